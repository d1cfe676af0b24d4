import { expect, test } from 'vitest';
import type { ClusterEntry, TableColumn, TableRow } from '../../../core/contract/index.ts';
import { fleetRows, type ClusterPart } from './fleet-rows.ts';

const column = (name: string): TableColumn => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority: 0,
});
const row = (name: string, status: string): TableRow => ({
  key: `default/${name}`,
  uid: name,
  name,
  namespace: 'default',
  createdAtMs: 0,
  isDeleting: false,
  cells: [name, status],
  labels: {},
});
const part = (cluster: string, rows: readonly TableRow[]): ClusterPart => ({
  entry: { id: cluster, name: cluster } as ClusterEntry,
  columns: [column('Name'), column('Status')],
  rows,
  isListed: true,
  problem: undefined,
});
const parts = [
  part('prod', [row('web-10', 'Running'), row('web-2', 'Failed')]),
  part('test', [row('web-2', 'Running')]),
];
const shown = (query: string): string[] =>
  fleetRows(parts, query).map(({ entry, row: { name }, status }) => `${entry.name} ${name} ${status}`);

test('rows of all clusters are one list by name', () => {
  expect(shown('')).toEqual(['prod web-2 Failed', 'test web-2 Running', 'prod web-10 Running']);
});

test('a word of the filter may name a cluster', () => {
  expect([shown('prod web-2'), shown('failed'), shown('nowhere')]).toEqual([
    ['prod web-2 Failed'],
    ['prod web-2 Failed'],
    [],
  ]);
});
