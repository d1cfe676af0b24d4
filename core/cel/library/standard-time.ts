import { DURATION, INT, STRING, TIMESTAMP } from '../types/type.ts';
import { intOf } from '../values/integers.ts';
import { type CivilTime, civilTime } from '../values/time.ts';
import type { CelError } from '../values/value.ts';
import { type CelDuration, type CelTimestamp, type Value, error } from '../values/value.ts';
import { type Library, member } from './declare.ts';
import type { Overload } from '../values/overload.ts';

/** Formatters are slow to make and there are a few hundred zones at most. */
const formatters = new Map<string, Intl.DateTimeFormat>();
const FORMATTERS_MAX = 64;

const formatterOf = (zone: string): Intl.DateTimeFormat | undefined => {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  let made: Intl.DateTimeFormat;
  try {
    made = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      hourCycle: 'h23',
    });
  } catch {
    return undefined;
  }
  if (formatters.size >= FORMATTERS_MAX) formatters.clear();
  formatters.set(zone, made);
  return made;
};

const FIXED_OFFSET = /^([+-]?\d+):([+-]?\d+)$/;
const MILLIS = 1000;

/** Seconds east of UTC. */
const zoneOffset = (zone: string, seconds: number): number | CelError => {
  if (zone === '' || zone === 'UTC') return 0;
  const colon = zone.indexOf(':');
  if (colon >= 0) {
    const fixed = FIXED_OFFSET.exec(zone);
    if (fixed === null) {
      const bad = /^[+-]?\d+$/.test(zone.slice(0, colon)) ? zone.slice(colon + 1) : zone.slice(0, colon);
      return error(`strconv.Atoi: parsing ${JSON.stringify(bad)}: invalid syntax`);
    }
    const hours = Number(fixed[1]);
    const minutes = Number(fixed[2]);
    return (zone.startsWith('-') ? hours * 60 - minutes : hours * 60 + minutes) * 60;
  }
  const formatter = formatterOf(zone);
  if (formatter === undefined) return error(`unknown time zone ${zone}`);
  const parts = new Map(formatter.formatToParts(seconds * MILLIS).map(({ type, value }) => [type, value]));
  const number = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
  return secondsFromParts(
    parts.get('era') === 'BC' ? 1 - number('year') : number('year'),
    number('month'),
    [number('day'), number('hour'), number('minute'), number('second')],
    seconds,
  );
};

/** The offset that makes the local fields out of a time: found by comparing both as civil times. */
const secondsFromParts = (
  year: number,
  month: number,
  [day, hours, minutes, secs]: readonly [number, number, number, number],
  seconds: number,
): number => {
  const utc = civilTime(seconds);
  const dayDifference =
    year !== utc.year
      ? Math.sign(year - utc.year)
      : month !== utc.month
        ? Math.sign(month - utc.month)
        : day - utc.day;
  return (
    dayDifference * 86_400 + (hours - utc.hours) * 3600 + (minutes - utc.minutes) * 60 + (secs - utc.seconds)
  );
};

type Field = (civil: CivilTime, time: CelTimestamp) => number;

const inZone =
  (field: Field) =>
  (time: CelTimestamp, zone: string): Value => {
    const offset = zoneOffset(zone, time.seconds);
    return typeof offset === 'number' ? field(civilTime(time.seconds + offset), time) : offset;
  };

const getter = (fn: string, id: string, zonedId: string, field: Field): Overload[] => [
  member([fn, id, [TIMESTAMP], INT], (time: CelTimestamp) => field(civilTime(time.seconds), time)),
  member([fn, zonedId, [TIMESTAMP, STRING], INT], inZone(field)),
];

const durationGetter = (fn: string, id: string, unit: bigint): Overload =>
  member([fn, id, [DURATION], INT], ({ nanos }: CelDuration) => intOf(nanos / unit));

const withZone = (id: string): string => `${id}_with_tz`;
const simple = (fn: string, name: string, field: Field): Overload[] =>
  getter(fn, `timestamp_to_${name}`, withZone(`timestamp_to_${name}`), field);

export const STANDARD_TIME: Library = {
  name: 'time',
  overloads: [
    ...simple('getFullYear', 'year', ({ year }) => year),
    ...simple('getMonth', 'month', ({ month }) => month - 1),
    ...simple('getDayOfYear', 'day_of_year', ({ dayOfYear }) => dayOfYear),
    ...simple('getDayOfMonth', 'day_of_month', ({ day }) => day - 1),
    ...simple('getDate', 'day_of_month_1_based', ({ day }) => day),
    ...simple('getDayOfWeek', 'day_of_week', ({ weekday }) => weekday),
    ...simple('getHours', 'hours', ({ hours }) => hours),
    durationGetter('getHours', 'duration_to_hours', 3_600_000_000_000n),
    ...simple('getMinutes', 'minutes', ({ minutes }) => minutes),
    durationGetter('getMinutes', 'duration_to_minutes', 60_000_000_000n),
    ...getter('getSeconds', 'timestamp_to_seconds', 'timestamp_to_seconds_tz', ({ seconds }) => seconds),
    durationGetter('getSeconds', 'duration_to_seconds', 1_000_000_000n),
    ...simple('getMilliseconds', 'milliseconds', (_civil, { nanos }) => Math.floor(nanos / 1_000_000)),
    durationGetter('getMilliseconds', 'duration_to_milliseconds', 1_000_000n),
  ],
};
