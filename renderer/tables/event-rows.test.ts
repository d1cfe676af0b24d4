import { expect, test } from 'vitest';
import type { TableRow } from '../../core/contract/index.ts';
import { eventRows, filterEvents, groupEvents, newestFirst, parseAge } from './event-rows.ts';

const columns = ['Last Seen', 'Type', 'Reason', 'Object', 'Message'].map((name) => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
}));
const row = (name: string, seen: string, type: string, object: string): TableRow => ({
  key: `web/${name}`,
  uid: name,
  name,
  namespace: 'web',
  createdAtMs: 0,
  isDeleting: false,
  labels: {},
  cells: [seen, type, 'Because', object, 'something happened'],
});
const NOW_MS = 1_000_000;
const events = eventRows(
  [
    row('a', '2m', 'Normal', 'pod/one'),
    row('b', '12s (x4 over 3m)', 'Warning', 'pod/two'),
    row('c', '<unknown>', 'Normal', 'pod/one'),
  ],
  columns,
  () => NOW_MS,
);

test('ages are read as the server prints them', () => {
  expect(['4m12s', '3d2h', '12s (x4 over 3m)', '<unknown>'].map(parseAge)).toEqual([
    252_000,
    266_400_000,
    12_000,
    undefined,
  ]);
});

test('the newest is first; an event without an age counts from its creation', () => {
  expect(newestFirst(events).map(({ key, lastAtMs }) => [key, lastAtMs])).toEqual([
    ['web/b', NOW_MS - 12_000],
    ['web/a', NOW_MS - 120_000],
    ['web/c', 0],
  ]);
});

test('words, type and namespace narrow the list together', () => {
  const keys = (text: string, type: 'all' | 'Warning', namespaces: string[] = []) =>
    filterEvents(events, { text, type, namespaces }).map(({ key }) => key);
  expect([keys('ONE because', 'all'), keys('', 'Warning'), keys('', 'all', ['other'])]).toEqual([
    ['web/a', 'web/c'],
    ['web/b'],
    [],
  ]);
});

test('events of one object are grouped, the object of the newest first', () => {
  expect(
    groupEvents(events).map(({ object, warnings, events: list }) => [object, warnings, list.length]),
  ).toEqual([
    ['pod/two', 1, 1],
    ['pod/one', 0, 2],
  ]);
});
