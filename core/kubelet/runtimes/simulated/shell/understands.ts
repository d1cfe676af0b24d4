import { ReasonError } from '../../../../base/errors.ts';
import { commandNamed } from './commands.ts';
import { parseScript } from './parser.ts';
import { commandName } from './process.ts';
import type { Node } from './syntax.ts';

/** Whether every command of a script is one that the shell has: only then is it run instead of merely simulated. */
export const understands = (argv: readonly string[]): boolean => {
  const [path = ''] = argv;
  const name = commandName(path);
  if (['sh', 'ash', 'bash'].includes(name)) {
    const scriptAt = argv.findIndex((arg) => /^-[a-z]*c$/.test(arg));
    if (scriptAt < 0) return false;
    try {
      return commandsOf(parseScript(argv[scriptAt + 1] ?? '')).every(isKnown);
    } catch (error) {
      if (error instanceof ReasonError) return false;
      throw error;
    }
  }
  return isKnown(name);
};

/** Without a look into the script: whether it is worth to ask. */
export const mayBeUnderstood = (argv: readonly string[]): boolean => isKnown(commandName(argv[0] ?? ''));

const BUILTINS = new Set(
  'exit break continue : set trap wait exec cd export unset read sh ash bash'.split(' '),
);
const isKnown = (name: string): boolean => BUILTINS.has(name) || commandNamed(name) !== undefined;

const commandsOf = (node: Node): string[] => {
  switch (node.node) {
    case 'simple': {
      const [word] = node.words;
      if (!word) return [];
      const [part] = word;
      const text = word.length === 1 && part?.part === 'text' ? part.text : '';
      const name = commandName(text);
      const [, second] = node.words;
      const inner = second?.length === 1 && second[0]?.part === 'text' ? second[0].text : '';
      return name === 'exec' && inner !== '' ? [inner.replace(/^.*\//, '')] : [name];
    }
    case 'list':
      return node.items.flatMap(commandsOf);
    case 'pipeline':
      return node.commands.flatMap(commandsOf);
    case 'and-or':
      return [node.first, ...node.rest.map(({ command }) => command)].flatMap(commandsOf);
    case 'loop':
      return [...commandsOf(node.condition), ...commandsOf(node.body)];
    case 'for':
      return commandsOf(node.body);
    case 'if':
      return [
        ...node.branches.flatMap((branch) => [...commandsOf(branch.condition), ...commandsOf(branch.body)]),
        ...(node.otherwise ? commandsOf(node.otherwise) : []),
      ];
  }
};
