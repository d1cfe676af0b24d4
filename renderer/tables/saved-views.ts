import { readRemembered, remember } from '../stores/remembered.ts';
import { isChosen, NO_CHOICE, type ColumnChoice } from './column-choice.ts';

export const VIEWS_MAX = 20;
const COLUMNS_MAX = 128;
export const VIEW_NAME_CHARACTERS_MAX = 60;

/** A way to look at a list of one kind that a person gave a name. */
export interface SavedView {
  readonly name: string;
  readonly filter: string;
  readonly onlyProblems: boolean;
  /** A column, with a minus before it when descending; empty as the list is sorted on its own. */
  readonly sort: string;
  readonly columns: ColumnChoice;
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
const namesOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, COLUMNS_MAX) : [];
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const choiceOf = (value: unknown): ColumnChoice => {
  const { order, shown, hidden } = fieldsOf(value);
  return { order: namesOf(order), shown: namesOf(shown), hidden: namesOf(hidden) };
};
const viewOf = (value: unknown): SavedView[] => {
  const { name, filter, onlyProblems, sort, columns } = fieldsOf(value);
  if (typeof name !== 'string' || name === '') return [];
  return [
    {
      name,
      filter: textOf(filter),
      onlyProblems: onlyProblems === true,
      sort: textOf(sort),
      columns: choiceOf(columns),
    },
  ];
};

const columnsKey = (resource: string): string => `pilothouse.columns.${resource}`;
const viewsKey = (resource: string): string => `pilothouse.views.${resource}`;

/** What cannot be read was written by another version or by hand; it is as if nothing had been kept. */
const readKept = (key: string): unknown => {
  const text = readRemembered(key);
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
};

export const readColumns = (resource: string): ColumnChoice => {
  const choice = choiceOf(readKept(columnsKey(resource)));
  return isChosen(choice) ? choice : NO_CHOICE;
};
export const keepColumns = (resource: string, choice: ColumnChoice): void =>
  remember(columnsKey(resource), isChosen(choice) ? JSON.stringify(choice) : undefined);

export const readViews = (resource: string): readonly SavedView[] => {
  const kept = readKept(viewsKey(resource));
  return Array.isArray(kept) ? kept.slice(0, VIEWS_MAX).flatMap(viewOf) : [];
};
export const keepViews = (resource: string, views: readonly SavedView[]): void =>
  remember(viewsKey(resource), views.length === 0 ? undefined : JSON.stringify(views));

/** In the order of their names; a view of the same name is replaced. */
export const withView = (views: readonly SavedView[], view: SavedView): readonly SavedView[] =>
  [...views.filter(({ name }) => name !== view.name), view]
    .sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
    .slice(0, VIEWS_MAX);
