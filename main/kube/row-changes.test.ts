import { expect, test } from 'vitest';
import { TABLE_ROWS_PER_ITEM_MAX } from '../../core/contract/index.ts';
import { RowChanges } from './row-changes.ts';
import { readPage, type VersionedRow } from './table-rows.ts';

const row = (name: string, resourceVersion: string): VersionedRow => ({
  resourceVersion,
  row: {
    key: `web/${name}`,
    uid: name,
    name,
    namespace: 'web',
    createdAtMs: null,
    isDeleting: false,
    labels: {},
    cells: [name, resourceVersion],
  },
});
const signal = new AbortController().signal;

test('a row that changes often is reported once, in its newest state', () => {
  const changes = new RowChanges();
  for (let version = 1; version <= 100; version += 1) changes.put(row('a', String(version)));
  expect(changes.take()).toEqual([{ kind: 'rows', rows: [row('a', '100').row] }]);
  expect(changes.take()).toEqual([]);
});

test('a row that comes and goes between two bursts is reported as gone, not as there', () => {
  const changes = new RowChanges();
  changes.put(row('a', '1'));
  changes.remove('web/a');
  expect(changes.take()).toEqual([{ kind: 'gone', keys: ['web/a'] }]);
});

test('a list that is read again tells only what is different', () => {
  const changes = new RowChanges();
  for (const each of [row('a', '1'), row('b', '2'), row('c', '3')]) changes.put(each);
  changes.take();
  for (const each of [row('a', '1'), row('b', '9')]) changes.put(each);
  changes.keepOnly(new Set(['web/a', 'web/b']));
  expect(changes.take()).toEqual([
    { kind: 'gone', keys: ['web/c'] },
    { kind: 'rows', rows: [row('b', '9').row] },
    { kind: 'listed' },
  ]);
});

test('many rows are cut into items of a bounded size', () => {
  const changes = new RowChanges();
  for (let index = 0; index < TABLE_ROWS_PER_ITEM_MAX + 1; index += 1) changes.put(row(`p-${index}`, '1'));
  const sizes = changes.take().map((item) => (item.kind === 'rows' ? item.rows.length : 0));
  expect(sizes).toEqual([TABLE_ROWS_PER_ITEM_MAX, 1]);
});

test('anyone who waits is woken by the next change', async () => {
  const changes = new RowChanges();
  const woken = changes.whenChanged(signal).then(() => changes.take());
  changes.put(row('a', '1'));
  expect(await woken).toHaveLength(1);
});

test('a table is read as rows with the names of their objects', () => {
  const page = readPage({
    kind: 'Table',
    metadata: { resourceVersion: '7', continue: 'next' },
    columnDefinitions: [{ name: 'Name', type: 'string', format: 'name', priority: 0 }],
    rows: [
      {
        cells: ['a', { nested: true }, null],
        object: {
          kind: 'PartialObjectMetadata',
          metadata: {
            name: 'a',
            namespace: 'web',
            uid: 'u',
            resourceVersion: '5',
            creationTimestamp: '2026-01-01T00:00:00Z',
            deletionTimestamp: '2026-01-02T00:00:00Z',
          },
        },
      },
    ],
  });
  expect([page.resourceVersion, page.next, page.rows[0]]).toMatchObject([
    '7',
    'next',
    {
      resourceVersion: '5',
      row: {
        key: 'web/a',
        isDeleting: true,
        cells: ['a', '{"nested":true}', null],
        createdAtMs: 1_767_225_600_000,
      },
    },
  ]);
});

test('a server that knows no tables still gives rows', () => {
  const page = readPage({ kind: 'FooList', metadata: {}, items: [{ metadata: { name: 'x' } }] });
  expect([page.columns?.map(({ name }) => name), page.rows[0]?.row.name]).toEqual([['Name', 'Age'], 'x']);
});
