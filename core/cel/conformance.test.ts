import { tests } from '@bufbuild/cel-spec/testdata/conformance.js';
import { expect, test } from 'vitest';
import { flatten, runConformance } from './testing/conformance.ts';
import { OUTSIDE_DIALECT } from './testing/outside-dialect.ts';

const all = flatten(tests as Parameters<typeof flatten>[0]);
const entries = Object.values(OUTSIDE_DIALECT).flat();
const isCovered = (name: string, entry: string): boolean =>
  entry.endsWith('/') ? name.startsWith(entry) : name === entry;

const failures = all.flatMap((each) => {
  const outcome = runConformance(each);
  return outcome?.wanted === outcome?.found && outcome !== undefined
    ? []
    : [{ name: each.name, expr: each.original.expr, ...outcome }];
});

test('every test of the official data passes or is outside the dialect for a known reason', () => {
  expect(failures.filter(({ name }) => !entries.some((entry) => isCovered(name, entry)))).toEqual([]);
});

test('nothing is listed as outside the dialect that passes', () => {
  const stale = entries.filter((entry) => !failures.some(({ name }) => isCovered(name, entry)));
  expect(stale).toEqual([]);
});

test('most of the official data is within the dialect', () => {
  expect(all.length - failures.length).toBeGreaterThan(1400);
});
