import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { type Case, type Fixture, answerer } from './testing/cases.ts';

const FOLDER = join(dirname(fileURLToPath(import.meta.url)), 'testing', 'cases');
const readText = (name: string): string => readFileSync(join(FOLDER, name), 'utf8');

const fixtures = JSON.parse(readText('fixtures.json')) as Record<
  'language' | 'schema',
  Fixture & { object: { a?: { big: unknown } } }
>;
// JSON has no integers of 64 bits.
fixtures.language.object.a!.big = 9007199254740993n;

const casesOf = (name: string): Case[] =>
  readText(name)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Case);

describe.each([
  ['syntax.jsonl', fixtures.language],
  ['language.jsonl', fixtures.language],
  ['schema.jsonl', fixtures.schema],
  // Written by a seeded generator, most of them nested several levels deep.
  ['generated.jsonl', { ...fixtures.schema, object: fixtures.language.object }],
])('cases of %s', (name, fixture) => {
  const answer = answerer(fixture);
  const cases = casesOf(name);

  test('every expression is answered as upstream answers it', () => {
    const differing = cases.flatMap((wanted) => {
      const found = { expr: wanted.expr, ...answer(wanted.expr) };
      return JSON.stringify(found) === JSON.stringify(wanted) ? [] : [{ wanted, found }];
    });
    expect(differing).toEqual([]);
    expect(cases.length).toBeGreaterThan(100);
  });
});
