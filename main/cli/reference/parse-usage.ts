/** A flag of a command as its synopsis shows it. */
export interface FlagReference {
  /** With its dashes. */
  readonly name: string;
  /** The placeholder of its value; undefined for a switch. */
  readonly value: string | undefined;
  /** The values it takes, where the synopsis lists them. */
  readonly choices: readonly string[];
}

export interface CommandReference {
  readonly name: string;
  readonly summary: string;
  /** One line each, starting with `pilothouse <name>`. */
  readonly synopses: readonly string[];
  /** What may follow the name, for a command with subcommands. */
  readonly subcommands: readonly string[];
  readonly flags: readonly FlagReference[];
  /** The text behind the synopses, as it is printed. */
  readonly description: string;
}

const WORDS = /^[a-z][a-z-]*(\|[a-z][a-z-]*)*$/;
const CHOICES = /^[a-z][\w.-]*(\|[a-z][\w.-]*)+$/;
const FLAG = /(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?: ([^\s[\]-][^\s[\]]*))?/g;

/** Continuation lines of a synopsis are indented further than its first one. */
const synopsesOf = (name: string, block: string): string[] => {
  const synopses: string[] = [];
  for (const line of block.split('\n').map((one) => one.trim())) {
    if (line.startsWith(`pilothouse ${name}`)) synopses.push(line);
    else if (synopses.length > 0) synopses.push(`${synopses.pop()} ${line}`);
  }
  return synopses;
};

const subcommandsOf = (name: string, synopsis: string): string[] => {
  const rest = synopsis.slice(`pilothouse ${name}`.length).trim();
  const bracketed = /^<([^>]+)>/.exec(rest)?.[1];
  if (bracketed !== undefined) return bracketed.split('|').map((word) => word.trim());
  const first = rest.split(' ')[0] ?? '';
  return WORDS.test(first) ? first.split('|') : [];
};

const flagsOf = (synopses: readonly string[]): FlagReference[] => {
  const flags = new Map<string, FlagReference>();
  for (const [, name, value] of synopses.join('\n').matchAll(FLAG)) {
    if (name === undefined || flags.has(name)) continue;
    const choices =
      name === '-o' ? ['json'] : value !== undefined && CHOICES.test(value) ? value.split('|') : [];
    flags.set(name, { name, value, choices });
  }
  return [...flags.values()];
};

/** Reads the usage text of a command: synopses up to the first blank line, then its description. */
export const parseUsage = (name: string, summary: string, usage: string): CommandReference => {
  const [block = '', ...rest] = usage.split('\n\n');
  const synopses = synopsesOf(name, block);
  return {
    name,
    summary,
    synopses,
    subcommands: [...new Set(synopses.flatMap((synopsis) => subcommandsOf(name, synopsis)))],
    flags: flagsOf(synopses),
    description: rest.join('\n\n').replace(/^ {2}/gm, ''),
  };
};
