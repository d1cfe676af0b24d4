import { expect, test } from 'vitest';
import type { HistoryContents } from '../../../../core/contract/index.ts';
import { thenAndNow } from './then-and-now.ts';

const contents = (counts: Readonly<Record<string, number>>): HistoryContents => ({
  revision: 1,
  namespaces: [],
  rows: Object.entries(counts).map(([id, count]) => {
    const [group = '', plural = ''] = id.split('/');
    return { group, plural, kind: plural, namespaced: true, count };
  }),
});

test('usual kinds come first, others where they differ, and what is always written not at all', () => {
  const then = contents({ '/pods': 3, '/events': 10, 'apps/deployments': 1, 'a/gone': 2, 'a/same': 5 });
  const now = contents({ '/pods': 1, '/events': 99, 'apps/deployments': 1, 'a/new': 7, 'a/same': 5 });
  expect(
    thenAndNow(then, now).map(({ plural, then: before, now: after }) => [plural, before, after]),
  ).toEqual([
    ['deployments', 1, 1],
    ['pods', 3, 1],
    ['new', 0, 7],
    ['gone', 2, 0],
  ]);
});
