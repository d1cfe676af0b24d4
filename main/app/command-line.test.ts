import { expect, test } from 'vitest';
import { commandLineOf } from './command-line.ts';

test.each([
  [['pilothouse'], undefined],
  [['pilothouse', '--data', '/srv'], undefined],
  [['pilothouse', 'pilothouse://raft', '--command-line', '--', 'up'], undefined],
  [['pilothouse', '--command-line'], []],
  [
    ['pilothouse', '--command-line', '--no-sandbox', '--', 'status', '--', '-o'],
    ['status', '--', '-o'],
  ],
])('%j runs the command %j', (argv, words) => {
  expect(commandLineOf(argv)).toEqual(words);
});
