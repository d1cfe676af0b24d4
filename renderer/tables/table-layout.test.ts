import { expect, test } from 'vitest';
import type { TableColumn, TableRow } from '../../core/contract/index.ts';
import { fitColumns, nothingWord, shownColumns } from './table-layout.ts';

const column = (name: string, priority = 0): TableColumn => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority,
});
const row = (...cells: string[]): TableRow => ({
  key: `default/${cells[0]}`,
  namespace: 'default',
  name: cells[0] ?? '',
  uid: '',
  createdAtMs: 0,
  isDeleting: false,
  labels: {},
  cells,
});
const PODS = [
  column('Name'),
  column('Ready'),
  column('Status'),
  column('Age'),
  column('Node', 1),
  column('Nominated Node', 1),
];
const ROWS = [row('web-1', '1/1', 'Running', '4m', 'worker-1', '<none>')];
const options = { hasNamespace: true, namespaceLabel: 'Namespace', isWide: false };
const labels = (columns: readonly { readonly label: string }[]): string[] =>
  columns.map(({ label }) => label);

test('age is the last column, and columns of second rank come before it unless they tell nothing', () => {
  expect(labels(shownColumns(PODS, ROWS, options))).toEqual([
    'Name',
    'Namespace',
    'Ready',
    'Status',
    'Node',
    'Age',
  ]);
});

test('a request for all columns includes empty ones', () => {
  expect(labels(shownColumns(PODS, ROWS, { ...options, isWide: true }))).toContain('Nominated Node');
});

test('a table has no columns before the server sends them', () => {
  expect(shownColumns([], [], options)).toEqual([]);
});

test('columns of second rank give way first, then the others from the right', () => {
  const columns = shownColumns(PODS, ROWS, options);
  const allPx = columns.reduce((sum, { widthPx }) => sum + widthPx, 40);
  expect(labels(fitColumns(columns, allPx))).toEqual(labels(columns));
  expect(labels(fitColumns(columns, allPx - 1))).toEqual(['Name', 'Namespace', 'Ready', 'Status', 'Age']);
  expect(labels(fitColumns(columns, 360))).toEqual(['Name', 'Status', 'Age']);
});

test('a word for nothing is known by its brackets', () => {
  expect(['<none>', '<unset>', 'none', '<b>'].map(nothingWord)).toEqual([
    'none',
    'unset',
    undefined,
    undefined,
  ]);
});
