// @vitest-environment happy-dom
import { afterEach, expect, test } from 'vitest';
import type { TableColumn } from '../../core/contract/index.ts';
import { chosenColumns, moveColumn, NO_CHOICE, orderColumns, toggleColumn } from './column-choice.ts';
import {
  keepColumns,
  keepViews,
  readColumns,
  readViews,
  VIEWS_MAX,
  withView,
  type SavedView,
} from './saved-views.ts';
import { shownColumns } from './table-layout.ts';

const column = (name: string, priority = 0): TableColumn => ({
  name,
  type: 'string',
  format: '',
  description: '',
  priority,
});
const COLUMNS = ['Name', 'Ready', 'Status', 'Age'].map((name) => column(name)).concat(column('Node', 1));
const layout = (isWide: boolean) =>
  shownColumns(COLUMNS, [], { hasNamespace: false, namespaceLabel: 'Namespace', isWide });
const all = layout(true);
const shown = (choice: typeof NO_CHOICE): string[] =>
  chosenColumns(all, layout(false), choice).map(({ id }) => id);

test('without a choice the server ranks; a person shows, hides and orders by name', () => {
  expect(shown(NO_CHOICE)).toEqual(['Name', 'Ready', 'Status', 'Age']);
  const wide = toggleColumn(NO_CHOICE, 'Node', true);
  expect(shown(wide)).toEqual(['Name', 'Ready', 'Status', 'Node', 'Age']);
  expect(shown(toggleColumn(wide, 'Ready', false))).toEqual(['Name', 'Status', 'Node', 'Age']);
  expect(shown(moveColumn(wide, all, 'Status', -1))).toEqual(['Name', 'Status', 'Ready', 'Node', 'Age']);
  // The name cannot be hidden, and nothing moves beyond the ends.
  expect(shown(toggleColumn(NO_CHOICE, 'Name', false))[0]).toBe('Name');
  expect(moveColumn(NO_CHOICE, all, 'Name', -1)).toBe(NO_CHOICE);
});

test('a column added after the order was chosen is where the server puts it', () => {
  const ids = orderColumns([{ id: 'a' }, { id: 'b' }, { id: 'c' }], ['c', 'a']).map(({ id }) => id);
  expect(ids).toEqual(['c', 'a', 'b']);
});

afterEach(() => localStorage.clear());
const view = (name: string): SavedView => ({
  name,
  filter: 'app=web',
  onlyProblems: true,
  sort: '-Age',
  columns: NO_CHOICE,
});

test('views and columns are kept for each kind, in order, a bounded number of them', () => {
  keepViews('pods', withView(withView([], view('b 10')), view('b 9')));
  keepColumns('pods', { order: ['Age'], shown: [], hidden: ['Ready'] });
  expect(readViews('pods').map(({ name }) => name)).toEqual(['b 9', 'b 10']);
  expect(readColumns('pods')).toEqual({ order: ['Age'], shown: [], hidden: ['Ready'] });
  expect([readViews('services'), readColumns('services')]).toEqual([[], NO_CHOICE]);
  let views: readonly SavedView[] = [];
  for (let index = 0; index < VIEWS_MAX + 5; index += 1) views = withView(views, view(`v${index}`));
  expect(views).toHaveLength(VIEWS_MAX);
  localStorage.setItem('pilothouse.views.pods', '{"broken"');
  expect(readViews('pods')).toEqual([]);
});
