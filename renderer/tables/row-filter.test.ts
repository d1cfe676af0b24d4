import { expect, test } from 'vitest';
import type { TableRow } from '../../core/contract/index.ts';
import { rowFilter, type FilterColumn } from './row-filter.ts';

const columns: FilterColumn[] = ['Name', 'Status', 'Restarts', 'Nominated Node', 'CPU'].map(
  (name, index) => ({
    name,
    read: (row) => String(row.cells[index] ?? ''),
  }),
);
const row = (name: string, labels: Record<string, string>, ...cells: (string | number)[]): TableRow => ({
  key: `shop/${name}`,
  uid: name,
  name,
  namespace: 'shop',
  createdAtMs: 0,
  isDeleting: false,
  labels,
  cells: [name, ...cells],
});
const rows = [
  row('web-1', { app: 'web', tier: 'front' }, 'Running', '0', 'worker-1', '250m'),
  row('web-2', { app: 'web' }, 'CrashLoopBackOff', '12 (3m ago)', '', '1'),
  row('ledger-1', { app: 'ledger', 'app.kubernetes.io/name': 'books' }, 'Pending', '1', '', ''),
];
const found = (query: string): string[] => {
  const filter = rowFilter(query, columns);
  return rows.filter((each) => filter?.matches(each) ?? true).map(({ name }) => name);
};

test.each([
  ['', ['web-1', 'web-2', 'ledger-1']],
  ['web run', ['web-1']],
  ['!running', ['web-2', 'ledger-1']],
  ['app=web', ['web-1', 'web-2']],
  ['app=we', []],
  ['APP==Web status=running', ['web-1']],
  ['app!=web', ['ledger-1']],
  ['app.kubernetes.io/name=books', ['ledger-1']],
  ['status in (Running, Pending)', ['web-1', 'ledger-1']],
  ['status notin (Running,Pending) web', ['web-2']],
  // Typed, not yet closed.
  ['status in (pending', ['ledger-1']],
  ['status in (', ['web-1', 'web-2', 'ledger-1']],
  ['app=', ['web-1', 'web-2', 'ledger-1']],
  ['tier=*', ['web-1']],
  ['tier!=*', ['web-2', 'ledger-1']],
  ['nominated-node=*', ['web-1']],
  ['/^web-[2-9]$/', ['web-2']],
  ['!/^web/', ['ledger-1']],
  ['name=~^l', ['ledger-1']],
  ['name!~^l', ['web-1', 'web-2']],
  ['restarts>0', ['web-2', 'ledger-1']],
  ['restarts>=12', ['web-2']],
  ['cpu<0.5', ['web-1']],
  ['cpu>200m', ['web-1', 'web-2']],
  ['nosuch=1', []],
  ['nosuch!=1', ['web-1', 'web-2', 'ledger-1']],
])('%s', (query, expected) => {
  expect(found(query)).toEqual(expected);
});

test('a pattern that cannot be read is reported, and narrows nothing', () => {
  expect(rowFilter('/[/', columns)?.badPattern).toBe('[');
  expect(rowFilter('name=~(', columns)?.badPattern).toBe('(');
  expect(found('/[/')).toHaveLength(3);
  expect(rowFilter('   ', columns)).toBeUndefined();
});
