import type { CommandReference, FlagReference } from './parse-usage.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** Flags whose value is a file or a directory of this machine. */
const isPath = ({ value, name }: FlagReference): boolean =>
  name === '--data' || /^(DIR|F|FILE)$/.test(value ?? '');

const names = (commands: readonly CommandReference[]): string =>
  [...commands.map(({ name }) => name), 'help'].join(' ');

const bashValueCases = (commands: readonly CommandReference[]): string[] => {
  const flags = new Map(commands.flatMap((command) => command.flags).map((flag) => [flag.name, flag]));
  return [...flags.values()].flatMap((flag) => {
    if (flag.choices.length > 0)
      return [`    ${flag.name}) COMPREPLY=($(compgen -W '${flag.choices.join(' ')}' -- "$cur")); return ;;`];
    if (isPath(flag)) return [`    ${flag.name}) COMPREPLY=($(compgen -f -- "$cur")); return ;;`];
    return flag.value === undefined ? [] : [`    ${flag.name}) return ;;`];
  });
};

const bash = (commands: readonly CommandReference[]): string => `# bash completion of pilothouse; generated
_pilothouse() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} subcommands= flags=
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${names(commands)}' -- "$cur"))
    return
  fi
  case $prev in
${bashValueCases(commands).join('\n')}
  esac
  case \${COMP_WORDS[1]} in
${commands
  .map(
    ({ name, subcommands, flags }) =>
      `    ${name}) subcommands='${subcommands.join(' ')}' flags='${flags.map((flag) => flag.name).join(' ')}' ;;`,
  )
  .join('\n')}
    help) subcommands='${names(commands)}' ;;
  esac
  if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W "$flags" -- "$cur"))
  elif [ "$COMP_CWORD" -eq 2 ] && [ -n "$subcommands" ]; then COMPREPLY=($(compgen -W "$subcommands" -- "$cur"))
  else COMPREPLY=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _pilothouse pilothouse
`;

/** Within single quotes of a shell. */
const quoted = (text: string): string => text.replaceAll("'", `'\\''`);
/** Within a specification of zsh, where a colon and brackets separate. */
const zshText = (text: string): string => quoted(text).replaceAll(/[:[\]]/g, '\\$&');

const zshFlag = (flag: FlagReference): string => {
  if (flag.value === undefined) return `'${flag.name}'`;
  const values = flag.choices.length > 0 ? `(${flag.choices.join(' ')})` : isPath(flag) ? '_files' : ' ';
  return `'${flag.name}:${zshText(flag.value)}:${values}'`;
};

const zsh = (commands: readonly CommandReference[]): string => `#compdef pilothouse
# zsh completion of pilothouse; generated
_pilothouse() {
  local -a commands=(
${commands.map(({ name, summary }) => `    '${name}:${quoted(summary)}'`).join('\n')}
    'help:show the help of one command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  case $words[2] in
${commands
  .map(({ name, subcommands, flags }) => {
    const second = subcommands.length > 0 ? [`'2:subcommand:(${subcommands.join(' ')})'`] : [];
    return `    ${name}) _arguments '1:command: ' ${[...second, ...flags.map(zshFlag), "'*:file:_files'"].join(' ')} ;;`;
  })
  .join('\n')}
    help) _describe command commands ;;
  esac
}
if [ "$funcstack[1]" = _pilothouse ]; then _pilothouse "$@"; else compdef _pilothouse pilothouse; fi
`;

const fishFlag = (command: string, flag: FlagReference): string => {
  const name = flag.name.startsWith('--') ? `-l ${flag.name.slice(2)}` : `-s ${flag.name.slice(1)}`;
  const value =
    flag.value === undefined ? '' : isPath(flag) ? ' -r -F' : ` -x -a '${flag.choices.join(' ')}'`;
  return `complete -c pilothouse -n '__fish_seen_subcommand_from ${command}' ${name}${value}`;
};

const fish = (commands: readonly CommandReference[]): string =>
  [
    '# fish completion of pilothouse; generated',
    ...commands.flatMap(({ name, summary, subcommands, flags }) => [
      `complete -c pilothouse -f -n __fish_use_subcommand -a ${name} -d '${quoted(summary)}'`,
      ...(subcommands.length > 0
        ? [
            `complete -c pilothouse -f -n '__fish_seen_subcommand_from ${name}; and test (count (commandline -opc)) -eq 2' -a '${subcommands.join(' ')}'`,
          ]
        : []),
      ...flags.map((flag) => fishFlag(name, flag)),
    ]),
    `complete -c pilothouse -f -n __fish_use_subcommand -a help -d 'show the help of one command'`,
    `complete -c pilothouse -f -n '__fish_seen_subcommand_from help' -a '${names(commands)}'`,
    '',
  ].join('\n');

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CommandReference[]) => string>> = {
  bash,
  zsh,
  fish,
};

/** The completion script of a shell. */
export const completionScript = (shell: Shell, commands: readonly CommandReference[]): string =>
  SCRIPTS[shell](commands);
