import type { ShownColumn } from './table-layout.ts';

/** What a person wants of the columns of one kind, by their names; the rest is as the server ranks it. */
export interface ColumnChoice {
  readonly order: readonly string[];
  readonly shown: readonly string[];
  readonly hidden: readonly string[];
}

export const NO_CHOICE: ColumnChoice = { order: [], shown: [], hidden: [] };

export const isChosen = ({ order, shown, hidden }: ColumnChoice): boolean =>
  order.length + shown.length + hidden.length > 0;

/** All columns in the wanted order; those that are not in it stay behind the one that they follow by default. */
export const orderColumns = <C extends { readonly id: string }>(
  all: readonly C[],
  order: readonly string[],
): C[] => {
  const known = order.flatMap((id) => all.find((column) => column.id === id) ?? []);
  const result = [...known];
  all.forEach((column, index) => {
    if (known.includes(column)) return;
    const before = index === 0 ? -1 : result.indexOf(all[index - 1]!);
    result.splice(before + 1, 0, column);
  });
  return result;
};

/** The name stays: a row without it is no one's. */
export const canHide = (column: ShownColumn): boolean => !column.isName;

/** Of all columns those to draw. `byDefault` are the ones that are drawn when nothing was chosen. */
export const chosenColumns = (
  all: readonly ShownColumn[],
  byDefault: readonly ShownColumn[],
  choice: ColumnChoice,
): ShownColumn[] => {
  const usual = new Map(byDefault.map((column) => [column.id, column]));
  return orderColumns(all, choice.order).flatMap((column) => {
    if (choice.hidden.includes(column.id) && canHide(column)) return [];
    // Asked for by name, it is not the first to give way.
    if (choice.shown.includes(column.id)) return [{ ...column, isExtra: false }];
    return usual.get(column.id) ?? [];
  });
};

export const toggleColumn = (choice: ColumnChoice, id: string, isShown: boolean): ColumnChoice => ({
  order: choice.order,
  shown: isShown
    ? [...choice.shown.filter((each) => each !== id), id]
    : choice.shown.filter((each) => each !== id),
  hidden: isShown
    ? choice.hidden.filter((each) => each !== id)
    : [...choice.hidden.filter((each) => each !== id), id],
});

/** One place to the left or to the right of where it is now. */
export const moveColumn = (
  choice: ColumnChoice,
  all: readonly { readonly id: string }[],
  id: string,
  by: 1 | -1,
): ColumnChoice => {
  const ids = orderColumns(all, choice.order).map((column) => column.id);
  const from = ids.indexOf(id);
  const to = from + by;
  if (from < 0 || to < 0 || to >= ids.length) return choice;
  ids.splice(to, 0, ...ids.splice(from, 1));
  return { ...choice, order: ids };
};
