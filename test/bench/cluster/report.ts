import { loadavg } from 'node:os';

export interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** What has to be reached: most, unless the unit is a rate. */
  readonly goal?: number;
  readonly note?: string;
}

const NAME_COLUMNS = 52;
const VALUE_COLUMNS = 14;
const GOAL_COLUMNS = 12;

const isReached = ({ value, unit, goal }: Row): boolean =>
  goal !== undefined && (unit.endsWith('/s') ? value >= goal : value <= goal);

const figure = (value: number): string =>
  Math.abs(value) < 100 ? value.toFixed(Math.abs(value) < 10 ? 2 : 1) : value.toFixed(0);

/** One line immediately: a bench that breaks off has told what it had found. */
export const printRow = (row: Row): void => {
  const { name, value, unit, goal, note } = row;
  console.log(
    [
      name.padEnd(NAME_COLUMNS),
      `${figure(value)} ${unit}`.padStart(VALUE_COLUMNS),
      (goal === undefined ? '' : `goal ${goal}`).padEnd(GOAL_COLUMNS),
      goal === undefined ? '' : isReached(row) ? 'reached' : 'missed',
      note ?? '',
    ]
      .join('  ')
      .trimEnd(),
  );
};

/** What else the machine has to do spoils every figure of time. */
export const printLoad = (): void =>
  console.log(`load of the machine before: ${loadavg()[0]!.toFixed(2)} (a quiet one is below 0.3)`);
