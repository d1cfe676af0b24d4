import { expect, test } from 'vitest';
import { momentOf, otherMomentOf, otherQueryOf, queryOf, resourceOf, timeAt } from './moment-address.ts';

test.each([
  [{}, { kind: 'now' }],
  [{ revision: '42' }, { kind: 'revision', revision: 42 }],
  [{ revision: 'x' }, { kind: 'now' }],
  [{ snapshot: '/a.db' }, { kind: 'snapshot', file: '/a.db', revision: null }],
  [
    { snapshot: '/a.db', revision: '7' },
    { kind: 'snapshot', file: '/a.db', revision: 7 },
  ],
] as const)('the address %j is a moment, and back', (query, moment) => {
  expect(momentOf(query)).toEqual(moment);
  expect(momentOf(queryOf(momentOf(query)))).toEqual(moment);
});

test.each([
  ['', { kind: 'now' }],
  ['revision:42', { kind: 'revision', revision: 42 }],
  ['snapshot:C:\\\\a.db', { kind: 'snapshot', file: 'C:\\\\a.db', revision: null }],
] as const)('the other end %j of a comparison is a moment, and back', (text, moment) => {
  expect(otherMomentOf({ with: text })).toEqual(moment);
  expect(otherQueryOf(moment)).toBe(text);
});

test('a resource of the core group begins with a slash', () => {
  expect([resourceOf({ kind: '/pods' }), resourceOf({ kind: 'apps/deployments' }), resourceOf({})]).toEqual([
    { group: '', plural: 'pods' },
    { group: 'apps', plural: 'deployments' },
    undefined,
  ]);
});

test('times between samples are estimated, and not where a clock was set back', () => {
  const samples = [
    { revision: 10, atMs: 1000 },
    { revision: 20, atMs: 2000 },
    { revision: 30, atMs: 500 },
  ];
  expect([5, 10, 15, 20, 25, 31].map((revision) => timeAt(samples, revision))).toEqual([
    undefined,
    1000,
    1500,
    2000,
    undefined,
    undefined,
  ]);
});
