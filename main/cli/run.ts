import { hasReason, messageOf } from '../../core/base/errors.ts';
import { EXIT_FAILURE, EXIT_OK, EXIT_USAGE, usageError, type CommandContext } from './command.ts';
import { PRODUCT_VERSION } from './product-version.ts';
import { COMMANDS, referencesOf, type TableEntry } from './table.ts';

const ALIASES: Readonly<Record<string, string>> = { '-h': 'help', '--help': 'help', '--version': 'version' };
const NAME_COLUMNS = 14;

const printOverview = (commands: readonly TableEntry[], context: CommandContext): number => {
  context.print('Without a command, pilothouse opens the desktop app. Commands:');
  context.print('');
  for (const { name, summary } of commands) context.print(`  ${name.padEnd(NAME_COLUMNS)}${summary}`);
  context.print(`  ${'help'.padEnd(NAME_COLUMNS)}show this help, or the help of one command: help <command>`);
  context.print('');
  context.print('All commands accept --data DIR (data directory) and -o json.');
  return EXIT_OK;
};

const find = (name: string, commands: readonly TableEntry[]): TableEntry => {
  const entry = commands.find((command) => command.name === name);
  if (!entry) throw usageError(`unknown command "${name}"; run pilothouse help for a list`);
  return entry;
};

/** All of the help as one document. */
const printDocument = async (
  format: string | undefined,
  commands: readonly TableEntry[],
  context: CommandContext,
): Promise<number> => {
  if (format !== 'man' && format !== 'markdown')
    throw usageError(`help -o takes man or markdown, not "${format ?? ''}"`);
  const { manPage, markdownReference } = await import('./reference/pages.ts');
  const references = await referencesOf(commands);
  const text = format === 'man' ? manPage(PRODUCT_VERSION, references) : markdownReference(references);
  context.print(text.trimEnd());
  return EXIT_OK;
};

const help = async (
  [name, format]: readonly string[],
  commands: readonly TableEntry[],
  context: CommandContext,
): Promise<number> => {
  if (name === '-o') return printDocument(format, commands, context);
  if (name === undefined || name === 'help') return printOverview(commands, context);
  const entry = find(name, commands);
  const { usage } = await entry.load();
  context.print(`pilothouse ${name}: ${entry.summary}`);
  context.print('');
  context.print(usage);
  return EXIT_OK;
};

const dispatch = async (
  args: readonly string[],
  commands: readonly TableEntry[],
  context: CommandContext,
): Promise<number> => {
  const [given = 'help', ...rest] = args;
  const name = ALIASES[given] ?? given;
  if (name === 'help') return help(rest, commands, context);
  const entry = find(name, commands);
  if (rest[0] === '-h' || rest[0] === '--help') return help([name], commands, context);
  return (await entry.load()).run(rest, context);
};

/** Runs one command line. Never throws: what goes wrong is one clear line and an exit code. */
export const runCommandLine = async (
  args: readonly string[],
  context: CommandContext,
  commands: readonly TableEntry[] = COMMANDS,
): Promise<number> => {
  try {
    return await dispatch(args, commands, context);
  } catch (error) {
    context.note(`pilothouse: ${messageOf(error)}`);
    return hasReason(error, 'Usage') ? EXIT_USAGE : EXIT_FAILURE;
  }
};
