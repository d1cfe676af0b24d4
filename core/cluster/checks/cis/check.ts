import { lstat } from 'node:fs/promises';
import { relative } from 'node:path';
import { flagOf } from '../../data-folder/in-flight-limits.ts';
import { inEnglish, type Finding } from '../../../contract/index.ts';
import type { CheckItem, Judged } from '../item.ts';
import type { Look } from '../look.ts';

/** `ok`: passed. `problem`: failed. `warning`: a decision of the user. `absent`: does not apply to this cluster. */
export interface Result {
  readonly verdict: Finding['verdict'];
  /** The evidence. */
  readonly message: string;
  /** The remedy; empty where none is needed. */
  readonly advice: string;
}

/** One check of the benchmark, by its number. It is printed by the command line alone, in English. */
export interface BenchmarkCheck {
  readonly id: string;
  readonly title: string;
  measure(look: Look): Promise<Result>;
}

export const ok = (message: string): Result => ({ verdict: 'ok', message, advice: '' });
export const bad = (message: string, advice: string): Result => ({ verdict: 'problem', message, advice });
/** Only a person can say whether the cluster needs it. */
export const decision = (message: string, advice: string): Result => ({
  verdict: 'warning',
  message,
  advice,
});
export const notApplicable = (why: string): Result => ({ verdict: 'absent', message: why, advice: '' });

export const plural = (count: number, one: string): string => `${count} ${count === 1 ? one : `${one}s`}`;

/** What an item of the checklist measures, in words. */
export const inWords = ({ verdict, message, advice }: Judged): Result => ({
  verdict,
  message: inEnglish(message),
  advice: advice === null ? '' : inEnglish(advice),
});

const PERMISSIONS = 0o777;
const octal = (mode: number): string => (mode & PERMISSIONS).toString(8);

export interface FileRule {
  /** Absolute paths; none: the check does not apply. */
  paths(look: Look): Promise<readonly string[]> | readonly string[];
  /** Bits that may be set. */
  readonly mode: number;
}

const SHOWN_MAX = 3;
const shown = (items: readonly string[]): string =>
  items.length > SHOWN_MAX
    ? `${items.slice(0, SHOWN_MAX).join(', ')} and ${items.length - SHOWN_MAX} more`
    : items.join(', ');

const statsOf = (paths: readonly string[]) =>
  Promise.all(
    paths.map(async (path) => ({
      path,
      stats: await lstat(path).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      }),
    })),
  );

/** Who may read a file, and whose it is: two checks of the benchmark for the same files. */
export const fileChecks = (
  [modeId, ownerId]: readonly [string | undefined, string | undefined],
  what: string,
  rule: FileRule,
): readonly BenchmarkCheck[] => {
  const found = async (look: Look) =>
    (await statsOf(await rule.paths(look))).flatMap(({ path, stats }) =>
      stats ? [{ name: relative(look.dataDirectory, path), stats }] : [],
    );
  const modes: BenchmarkCheck = {
    id: modeId ?? '',
    title: `${what}: mode ${octal(rule.mode)} or stricter`,
    async measure(look) {
      if (process.getuid === undefined)
        return notApplicable('this system has access control lists instead of modes');
      const files = await found(look);
      if (files.length === 0) return notApplicable('there is no such file');
      const open = files.filter(({ stats }) => (stats.mode & PERMISSIONS & ~rule.mode) !== 0);
      return open.length === 0
        ? ok(shown(files.map(({ name, stats }) => `${name} has mode ${octal(stats.mode)}`)))
        : bad(
            shown(open.map(({ name, stats }) => `${name} has mode ${octal(stats.mode)}`)),
            'pilothouse harden apply',
          );
    },
  };
  const owner: BenchmarkCheck = {
    id: ownerId ?? '',
    title: `${what}: owned by the user of the cluster`,
    async measure(look) {
      const uid = process.getuid?.();
      if (uid === undefined) return notApplicable('this system has access control lists instead of owners');
      const files = await found(look);
      if (files.length === 0) return notApplicable('there is no such file');
      const foreign = files.filter(({ stats }) => stats.uid !== uid);
      return foreign.length === 0
        ? ok(
            `${shown(files.map(({ name }) => name))} ${files.length === 1 ? 'belongs' : 'belong'} to user ${uid}`,
          )
        : bad(
            shown(foreign.map(({ name, stats }) => `${name} belongs to user ${stats.uid}`)),
            `chown the files to user ${uid}`,
          );
    },
  };
  return [...(modeId === undefined ? [] : [modes]), ...(ownerId === undefined ? [] : [owner])];
};

export interface HostCommand {
  readonly host: string;
  readonly command: readonly string[];
}

/** The command lines of a component on every host that runs it. */
export const commandsOf = async (look: Look, component: string): Promise<readonly HostCommand[]> => {
  const hosts = component === 'etcd' ? look.etcdHosts : look.controlPlanes;
  const found = await Promise.all(
    hosts.map(async ({ name }) => ({ host: name, command: await look.command(name, component) })),
  );
  return found.filter(({ command }) => command.length > 0);
};

/** The value of a flag; a boolean without a value is on. */
export const valueOf = (command: readonly string[], name: string): string | undefined =>
  flagOf(command, name) ?? (command.includes(`--${name}`) ? 'true' : undefined);

export const listOf = (command: readonly string[], name: string): readonly string[] =>
  (valueOf(command, name) ?? '').split(',').filter((item) => item !== '');

export interface FlagRule {
  readonly component: string;
  readonly remedy: string;
  /** What is wrong on one host; undefined where nothing is. */
  fault(command: readonly string[], look: Look): string | undefined;
  /** What was found, from the first host. */
  evidence(command: readonly string[], look: Look): string;
  readonly isDecision?: boolean;
  /** Asks the running cluster whether the flag does what it says; its answer is added to the evidence. */
  probe?(look: Look): Promise<Result>;
}

/** Flags of a component on every host, and what its servers do. */
export const flagCheck = (id: string, title: string, rule: FlagRule): BenchmarkCheck => ({
  id,
  title,
  async measure(look) {
    const commands = await commandsOf(look, rule.component);
    if (commands.length === 0) return notApplicable(`this cluster does not run ${rule.component}`);
    const faults = commands.flatMap(({ host, command }) => {
      const fault = rule.fault(command, look);
      return fault === undefined ? [] : [`${rule.component} on ${host}: ${fault}`];
    });
    if (faults.length > 0) return (rule.isDecision ? decision : bad)(faults.join('; '), rule.remedy);
    const evidence = rule.evidence(commands[0]!.command, look);
    if (!rule.probe) return ok(evidence);
    const probed = await rule.probe(look);
    return { ...probed, message: `${evidence}; ${probed.message}` };
  },
});

/** `--name=value`, as evidence. */
export const shownFlags = (command: readonly string[], ...names: readonly string[]): string =>
  names
    .map((name) => {
      const value = valueOf(command, name);
      return value === undefined ? `--${name} is not set` : `--${name}=${value}`;
    })
    .join(', ');

/** All of these flags have a value. */
export const given = (
  component: string,
  names: readonly string[],
  probe?: (look: Look) => Promise<Result>,
): FlagRule => ({
  component,
  remedy: `set ${names.map((name) => `--${name}`).join(' and ')} in the manifest`,
  fault: (command) => {
    const missing = names.filter((name) => valueOf(command, name) === undefined);
    return missing.length === 0 ? undefined : shownFlags(command, ...missing);
  },
  evidence: (command) => shownFlags(command, ...names),
  ...(probe && { probe }),
});

/** The flag has this value; absent counts as `otherwise`, the default of the component. */
export const equals = (
  component: string,
  [name, value]: readonly [string, string],
  { otherwise, ...rest }: { readonly otherwise?: string } & Partial<Pick<FlagRule, 'probe' | 'remedy'>> = {},
): FlagRule => ({
  component,
  remedy: `set --${name}=${value} in the manifest`,
  fault: (command) =>
    (valueOf(command, name) ?? otherwise) === value ? undefined : shownFlags(command, name),
  evidence: (command) =>
    valueOf(command, name) === undefined ? `--${name} is ${value} by default` : shownFlags(command, name),
  ...rest,
});

/** A behaviour that the checklist measures. */
export const measuredBy =
  (item: CheckItem) =>
  async (look: Look): Promise<Result> =>
    inWords(await look.once(item));
