import { plainFloat } from './floats.ts';
import { INT_MAX, INT_MIN } from './integers.ts';
import type { CelError } from './value.ts';
import { CelDuration, CelTimestamp, error } from './value.ts';

const NANOS = 1_000_000_000n;
/** Year 1 to year 9999, the timestamps CEL has. */
const SECONDS_MIN = -62_135_596_800;
const SECONDS_MAX = 253_402_300_799;

export const TIMESTAMP_OVERFLOW = error('timestamp overflow');
export const DURATION_OVERFLOW = error('duration overflow');

export const timestampOf = (seconds: number, nanos: number, offsetSeconds = 0): CelTimestamp | CelError =>
  seconds < SECONDS_MIN || seconds > SECONDS_MAX
    ? TIMESTAMP_OVERFLOW
    : new CelTimestamp(seconds, nanos, offsetSeconds);

const timestampFromNanos = (total: bigint, { offsetSeconds }: CelTimestamp): CelTimestamp | CelError => {
  const nanos = ((total % NANOS) + NANOS) % NANOS;
  return timestampOf(Number((total - nanos) / NANOS), Number(nanos), offsetSeconds);
};
const nanosOf = ({ seconds, nanos }: CelTimestamp): bigint => BigInt(seconds) * NANOS + BigInt(nanos);

export const durationOf = (nanos: bigint): CelDuration | CelError =>
  nanos > INT_MAX || nanos < INT_MIN ? DURATION_OVERFLOW : new CelDuration(nanos);

export const addDuration = (time: CelTimestamp, duration: CelDuration): CelTimestamp | CelError =>
  timestampFromNanos(nanosOf(time) + duration.nanos, time);
export const subtractDuration = (time: CelTimestamp, duration: CelDuration): CelTimestamp | CelError =>
  timestampFromNanos(nanosOf(time) - duration.nanos, time);
export const subtractTimestamps = (a: CelTimestamp, b: CelTimestamp): CelDuration | CelError =>
  durationOf(nanosOf(a) - nanosOf(b));

/** Days since the epoch of a date in the proleptic Gregorian calendar (H. Hinnant, "days_from_civil"). */
const daysOf = (year: number, month: number, day: number): number => {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
};

export interface CivilTime {
  readonly year: number;
  /** 1 to 12 */
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  /** From 0. */
  readonly dayOfYear: number;
  readonly hours: number;
  readonly minutes: number;
  readonly seconds: number;
}

/** The date and time of day of seconds since the epoch (the inverse of `daysOf`). */
export const civilTime = (seconds: number): CivilTime => {
  const days = Math.floor(seconds / 86_400);
  const rest = seconds - days * 86_400;
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfShiftedYear =
    dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * dayOfShiftedYear + 2) / 153);
  const day = dayOfShiftedYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return {
    year,
    month,
    day,
    weekday: (((days + 4) % 7) + 7) % 7,
    dayOfYear: days - daysOf(year, 1, 1),
    hours: Math.floor(rest / 3600),
    minutes: Math.floor(rest / 60) % 60,
    seconds: rest % 60,
  };
};

const RFC3339 =
  /^(\d{4})-(\d{2})-(\d{2})[T](\d{2}):(\d{2}):(\d{2})(?:[.,](\d+))?(?:Z|([+-])(\d{2}):(\d{2}))$/;
const DAYS_IN_MONTH = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const isDate = (year: number, month: number, day: number): boolean =>
  month >= 1 &&
  month <= 12 &&
  day >= 1 &&
  day <= DAYS_IN_MONTH[month - 1]! + (month === 2 && isLeap(year) ? 1 : 0);

/** An RFC 3339 time; undefined if it is none. */
export const parseTimestamp = (text: string): CelTimestamp | CelError | undefined => {
  const found = RFC3339.exec(text);
  if (found === null) return undefined;
  const [year, month, day, hours, minutes, seconds] = found.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (!isDate(year, month, day) || hours > 23 || minutes > 59 || seconds > 59) return undefined;
  const offsetHours = Number(found[9] ?? 0);
  const offsetMinutes = Number(found[10] ?? 0);
  if (offsetHours > 24 || offsetMinutes > 60) return undefined;
  const offset = (found[8] === '-' ? -1 : 1) * (offsetHours * 3600 + offsetMinutes * 60);
  const nanos = Number((found[7] ?? '').slice(0, 9).padEnd(9, '0'));
  const total = daysOf(year, month, day) * 86_400 + hours * 3600 + minutes * 60 + seconds - offset;
  return timestampOf(total, nanos, offset);
};

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

/** A full date, at midnight UTC. */
export const parseDate = (text: string): CelTimestamp | undefined => {
  const found = DATE.exec(text);
  if (found === null) return undefined;
  const [year, month, day] = found.slice(1, 4).map(Number) as [number, number, number];
  return isDate(year, month, day) ? new CelTimestamp(daysOf(year, month, day) * 86_400, 0) : undefined;
};

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

const zoneText = (offsetSeconds: number): string => {
  if (offsetSeconds === 0) return 'Z';
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  return `${offsetSeconds < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
};

/** RFC 3339 in the zone it was written in, with as many digits of the second as it has. */
export const timestampText = ({ seconds, nanos, offsetSeconds }: CelTimestamp): string => {
  const civil = civilTime(seconds + offsetSeconds);
  const fraction = nanos === 0 ? '' : `.${pad(nanos, 9).replace(/0+$/, '')}`;
  const date = `${pad(civil.year, 4)}-${pad(civil.month)}-${pad(civil.day)}`;
  const time = `${pad(civil.hours)}:${pad(civil.minutes)}:${pad(civil.seconds)}${fraction}`;
  return `${date}T${time}${zoneText(offsetSeconds)}`;
};

/** Seconds, as CEL prints durations. */
export const durationText = ({ nanos }: CelDuration): string => {
  const whole = nanos / NANOS;
  const fraction = nanos % NANOS;
  return `${plainFloat(Number(whole) + Number(fraction) / 1e9)}s`;
};

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: NANOS,
  m: 60n * NANOS,
  h: 3600n * NANOS,
};
const INT_DIGITS_MAX = 19;
const DURATION_PART = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;

/** A duration as Go writes it, `1h30m`; undefined if it is none or does not fit. */
export const parseDuration = (text: string): CelDuration | undefined => {
  const isNegative = text.startsWith('-');
  const body = isNegative || text.startsWith('+') ? text.slice(1) : text;
  if (body === '0') return new CelDuration(0n);
  if (body === '') return undefined;
  let total = 0n;
  for (let at = 0; at < body.length;) {
    DURATION_PART.lastIndex = at;
    const found = DURATION_PART.exec(body);
    if (found === null) return undefined;
    const [all, whole = '', written = '', unit] = found;
    if (whole === '' && written === '') return undefined;
    // More digits than a nanosecond has places, or than an int64 holds, are not worth converting.
    const digits = whole.replace(/^0+/, '');
    if (digits.length > INT_DIGITS_MAX) return undefined;
    const fraction = written.slice(0, INT_DIGITS_MAX);
    const nanos = UNIT_NANOS[unit!]!;
    total += BigInt(digits) * nanos;
    if (fraction !== '') total += (BigInt(fraction) * nanos) / 10n ** BigInt(fraction.length);
    at += all.length;
  }
  const signed = isNegative ? -total : total;
  return signed > INT_MAX || signed < INT_MIN ? undefined : new CelDuration(signed);
};
