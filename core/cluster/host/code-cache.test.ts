import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useCodeCache } from './code-cache.ts';

let folder: string;
let source: string;
const require = createRequire(import.meta.url);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'pilothouse-code-'));
  source = join(folder, 'answer.cjs');
  writeFileSync(source, 'exports.answer = (n) => n + 1;\n');
});
afterEach(() => rmSync(folder, { recursive: true }));

const cacheFolder = (): string => join(folder, 'cache');
const cacheFile = (): string => join(cacheFolder(), readdirSync(cacheFolder())[0]!);

/** One start: what the file answers, and whether it had to be compiled. */
const start = (options: { isBuild?: boolean } = {}): { answer: number; compiled: boolean } => {
  const cache = useCodeCache(cacheFolder(), 'test', options);
  try {
    delete require.cache[source];
    const { answer } = require(source) as { answer: (n: number) => number };
    return { answer: answer(1), compiled: cache.save() };
  } finally {
    cache.release();
  }
};

test('a second start compiles nothing', () => {
  expect([start(), start()]).toEqual([
    { answer: 2, compiled: true },
    { answer: 2, compiled: false },
  ]);
});

test('the first start uses the code cache of the build and keeps its own for the next', () => {
  expect([start({ isBuild: true }), start(), start()]).toEqual([
    { answer: 2, compiled: true },
    { answer: 2, compiled: true },
    { answer: 2, compiled: false },
  ]);
  expect(readdirSync(cacheFolder()).map((name) => name.includes('built'))).toContain(true);
});

test('source of the same length that says something else is compiled', () => {
  start();
  writeFileSync(source, 'exports.answer = (n) => n + 5;\n');
  expect([start(), start()]).toEqual([
    { answer: 6, compiled: true },
    { answer: 6, compiled: false },
  ]);
});

test('a damaged cache is rebuilt', () => {
  start();
  const content = readFileSync(cacheFile());
  content[content.length - 20]! ^= 0xff;
  writeFileSync(cacheFile(), content);
  expect([start(), start()]).toEqual([
    { answer: 2, compiled: true },
    { answer: 2, compiled: false },
  ]);
});

test.skipIf(process.platform === 'win32')('a cache that others may write is not trusted', () => {
  start();
  chmodSync(cacheFile(), 0o666);
  expect(start()).toEqual({ answer: 2, compiled: true });
});

test('a folder that cannot be written costs the cache alone', () => {
  writeFileSync(cacheFolder(), 'a file');
  expect(start().answer).toBe(2);
});

test('of threads that start together one writes, also after one was killed over it', () => {
  const both = [useCodeCache(cacheFolder(), 'test'), useCodeCache(cacheFolder(), 'test')];
  const saved = both.map((cache) => cache.save(true));
  for (const cache of both.toReversed()) cache.release();
  expect(saved).toEqual([true, false]);
  const claim = `${cacheFile()}.claim`;
  writeFileSync(claim, '');
  expect(start().compiled).toBe(false);
  utimesSync(claim, new Date(0), new Date(0));
  expect([start(), start()]).toEqual([
    { answer: 2, compiled: true },
    { answer: 2, compiled: false },
  ]);
});
