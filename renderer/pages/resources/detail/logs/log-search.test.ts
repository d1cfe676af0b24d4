import { expect, test } from 'vitest';
import { exportText, LogLines } from './log-lines.ts';
import { highlight, searchLines } from './log-search.ts';

const lines = new LogLines();
lines.add('web-1', [
  '2026-01-01T00:00:01Z INFO opening the port',
  '2026-01-01T00:00:03Z ERROR the port is taken',
  '2026-01-01T00:00:04Z   at listen()',
]);
lines.add('web-2', ['2026-01-01T00:00:02Z level=debug msg="port 80" \u001B[31mred\u001B[0m=1']);

const found = (query: string, options: Partial<Parameters<typeof searchLines>[2]> = {}) => {
  const { shown, hits } = searchLines(lines.all, query, { levelMin: undefined, onlyHits: false, ...options });
  return { shown: shown.map(({ source, message }) => `${source} ${message}`), hits };
};

test('lines of several pods are in the order of time, without terminal colours', () => {
  expect(found('').shown).toEqual([
    'web-1 INFO opening the port',
    'web-2 port 80',
    'web-1 ERROR the port is taken',
    'web-1   at listen()',
  ]);
});

test('a search keeps the lines around its hits and tells their places', () => {
  expect(found('PORT')).toEqual({ shown: found('').shown, hits: [0, 1, 2] });
  expect(found('taken', { onlyHits: true })).toEqual({ shown: ['web-1 ERROR the port is taken'], hits: [0] });
});

test('a level leaves out what is below it, not what may continue a line', () => {
  expect(found('', { levelMin: 'error' }).shown).toEqual([
    'web-1 ERROR the port is taken',
    'web-1   at listen()',
  ]);
});

test('every hit of a line is marked', () => {
  expect(highlight('Port to port', 'port')).toEqual([
    { text: 'Port', isHit: true },
    { text: ' to ', isHit: false },
    { text: 'port', isHit: true },
  ]);
});

test('an export has time, source and the line as it was written', () => {
  expect(exportText(lines.all.slice(0, 2), true)).toBe(
    '2026-01-01T00:00:01.000Z web-1 INFO opening the port\n2026-01-01T00:00:02.000Z web-2 level=debug msg="port 80" red=1',
  );
});
