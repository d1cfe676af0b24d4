/**
 * Reads the five fields of a cron schedule, and the @-descriptors, with the grammar and the sentences of the
 * library behind upstream's CronJobs. Answers with what is wrong, or with the sets of matching values.
 */
export interface CronFields {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly daysOfWeek: ReadonlySet<number>;
  /** `*` or `?`: when only one of the two day fields is restricted, only that one counts. */
  readonly anyDayOfMonth: boolean;
  readonly anyDayOfWeek: boolean;
}

export type CronSchedule =
  | { readonly kind: 'fields'; readonly fields: CronFields }
  /** `@every 1h30m`, in milliseconds. */
  | { readonly kind: 'every'; readonly everyMs: number }
  | { readonly kind: 'invalid'; readonly message: string };

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: Readonly<Record<string, number>>;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const numbered = (names: readonly string[], first: number): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name, i) => [name, i + first]));

const BOUNDS: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: numbered(MONTHS, 1) },
  { min: 0, max: 6, names: numbered(DAYS, 0) },
];

const DESCRIPTORS: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

class CronSyntaxError extends Error {}

function toNumber(text: string, bounds: Bounds): number {
  const named = bounds.names?.[text.toLowerCase()];
  if (named !== undefined) return named;
  if (!/^[-+]?[0-9]+$/.test(text))
    throw new CronSyntaxError(
      `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  const value = Number(text);
  if (value < 0) throw new CronSyntaxError(`negative number (${value}) not allowed: ${text}`);
  return value;
}

function rangeOf(expression: string, bounds: Bounds): number[] {
  const [span = '', stepText, ...moreSlashes] = expression.split('/');
  const [low = '', high, ...moreHyphens] = span.split('-');
  if (moreHyphens.length > 0) throw new CronSyntaxError(`too many hyphens: ${expression}`);
  const isStar = low === '*' || low === '?';
  const start = isStar ? bounds.min : toNumber(low, bounds);
  let end = isStar ? bounds.max : high === undefined ? start : toNumber(high, bounds);
  if (moreSlashes.length > 0) throw new CronSyntaxError(`too many slashes: ${expression}`);
  const step = stepText === undefined ? 1 : toNumber(stepText, { min: 0, max: Number.MAX_SAFE_INTEGER });
  // "5/15" means from 5 to the end in steps.
  if (stepText !== undefined && !isStar && high === undefined) end = bounds.max;
  if (start < bounds.min)
    throw new CronSyntaxError(`beginning of range (${start}) below minimum (${bounds.min}): ${expression}`);
  if (end > bounds.max)
    throw new CronSyntaxError(`end of range (${end}) above maximum (${bounds.max}): ${expression}`);
  if (start > end)
    throw new CronSyntaxError(`beginning of range (${start}) beyond end of range (${end}): ${expression}`);
  if (step === 0) throw new CronSyntaxError(`step of range should be a positive number: ${expression}`);
  const values: number[] = [];
  for (let value = start; value <= end; value += step) values.push(value);
  return values;
}

const fieldOf = (text: string, bounds: Bounds): ReadonlySet<number> =>
  new Set(
    text
      .split(',')
      .filter((part) => part !== '')
      .flatMap((part) => rangeOf(part, bounds)),
  );

const isAny = (text: string): boolean => text.split(',').some((part) => /^[*?](\/1)?$/.test(part));

const DURATION_UNITS_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};

function everyMs(text: string): number {
  const parts = [...text.matchAll(/([0-9]*\.?[0-9]+)(ns|us|µs|ms|s|m|h)/g)];
  if (text === '' || parts.map(([part]) => part).join('') !== text)
    throw new CronSyntaxError(
      `failed to parse duration @every ${text}: time: invalid duration ${JSON.stringify(text)}`,
    );
  const total = parts.reduce(
    (sum, [, amount, unit]) => sum + Number(amount) * (DURATION_UNITS_MS[unit ?? ''] ?? 0),
    0,
  );
  // Whole seconds, and at least one of them.
  return Math.max(1_000, Math.floor(total / 1_000) * 1_000);
}

export function parseCron(schedule: string): CronSchedule {
  try {
    return parse(schedule);
  } catch (error) {
    if (error instanceof CronSyntaxError) return { kind: 'invalid', message: error.message };
    throw error;
  }
}

function parse(schedule: string): CronSchedule {
  if (schedule === '') throw new CronSyntaxError('empty spec string');
  if (schedule.startsWith('@every '))
    return { kind: 'every', everyMs: everyMs(schedule.slice('@every '.length)) };
  const text = schedule.startsWith('@') ? DESCRIPTORS[schedule] : schedule;
  if (text === undefined) throw new CronSyntaxError(`unrecognized descriptor: ${schedule}`);
  const parts = text.split(/\s+/).filter((part) => part !== '');
  if (parts.length !== BOUNDS.length)
    throw new CronSyntaxError(`expected exactly 5 fields, found ${parts.length}: [${parts.join(' ')}]`);
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = parts.map((part, i) =>
    fieldOf(part, BOUNDS[i] as Bounds),
  ) as [Set<number>, Set<number>, Set<number>, Set<number>, Set<number>];
  return {
    kind: 'fields',
    fields: {
      minutes,
      hours,
      daysOfMonth,
      months,
      daysOfWeek,
      anyDayOfMonth: isAny(parts[2] ?? ''),
      anyDayOfWeek: isAny(parts[4] ?? ''),
    },
  };
}
