import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { COMMANDS } from './commands.ts';
import { formatTranscript, parseTranscript, type Block } from './script.ts';
import { World } from './world.ts';

const FOLDER = import.meta.dirname;
const UPDATE = process.env['UPDATE_TRANSCRIPTS'] === '1';
const QUIET = 'quiet';

/** Runs every command and puts what really happened in the place of what was expected. */
const replay = (blocks: readonly Block[]): Block[] => {
  let lines: string[] = [];
  const trace = (line: string): void => void lines.push(line);
  const world = new World(trace);
  return blocks.map((block) => {
    if (block.kind === 'prose') return block;
    lines = [];
    const words = block.command.split(/\s+/);
    // `quiet command` is for the way to the scene.
    const quiet = words[0] === QUIET;
    const [name = '', ...args] = quiet ? words.slice(1) : words;
    const command = COMMANDS[name];
    if (command === undefined) throw new Error(`no such command: ${block.command}`);
    command(world, args, trace);
    world.pump();
    return { ...block, expected: quiet ? [] : lines };
  });
};

const names = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

test('there are transcripts', () => {
  expect(names.length).toBeGreaterThanOrEqual(20);
});

for (const name of names) {
  test(`transcript ${name}`, () => {
    const path = join(FOLDER, name);
    const text = readFileSync(path, 'utf8');
    const replayed = formatTranscript(replay(parseTranscript(text)));
    if (UPDATE && replayed !== text) writeFileSync(path, replayed);
    else expect(replayed).toBe(text);
  });
}
