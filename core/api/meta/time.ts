/**
 * Times of the API without a clock: milliseconds since 1970 to RFC 3339 and back. The calendar is the
 * proleptic Gregorian one; the arithmetic is by eras of 400 years that start in March, so that the leap day
 * is the last of its year.
 */
const DAY_MS = 86_400_000;
const ERA_DAYS = 146_097;
/** Days from 0000-03-01 to 1970-01-01. */
const EPOCH_DAYS = 719_468;

const daysOfCivil = (year: number, month: number, day: number): number => {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * ERA_DAYS + dayOfEra - EPOCH_DAYS;
};

const civilOfDays = (days: number): { year: number; month: number; day: number } => {
  const z = days + EPOCH_DAYS;
  const era = Math.floor(z / ERA_DAYS);
  const dayOfEra = z - era * ERA_DAYS;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shifted = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * shifted + 2) / 5) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
};

const pad = (value: number, width = 2): string => String(value).padStart(width, '0');

const secondsTextOf = (unixMs: number): string => {
  const days = Math.floor(unixMs / DAY_MS);
  const { year, month, day } = civilOfDays(days);
  const second = Math.floor((unixMs - days * DAY_MS) / 1000);
  const clock = `${pad(Math.floor(second / 3600))}:${pad(Math.floor(second / 60) % 60)}:${pad(second % 60)}`;
  return `${pad(year, 4)}-${pad(month)}-${pad(day)}T${clock}`;
};

let lastSecond = NaN;
let lastText = '';
/** Most times that are written are of the same second. */
const secondsText = (unixMs: number): string => {
  const second = Math.floor(unixMs / 1000);
  if (second === lastSecond) return lastText;
  lastSecond = second;
  return (lastText = secondsTextOf(unixMs));
};

/** `metav1.Time`: whole seconds, UTC. */
export const formatTime = (unixMs: number): string => `${secondsText(unixMs)}Z`;

/** `metav1.MicroTime`: six digits, UTC. A fraction of a millisecond is kept as far as the number holds it. */
export const formatMicroTime = (unixMs: number): string => {
  const ms = Math.floor(unixMs);
  const micros = Math.min(999, Math.round((unixMs - ms) * 1000));
  return `${secondsText(ms)}.${String(1_000_000 + (((ms % 1000) + 1000) % 1000) * 1000 + micros).slice(1)}Z`;
};

const RFC3339 = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(\.\d+)?(?:Z|([+-])(\d{2}):(\d{2}))$/;

const daysInMonth = (year: number, month: number): number =>
  month === 12 ? 31 : daysOfCivil(year, month + 1, 1) - daysOfCivil(year, month, 1);

/** Milliseconds since 1970 (with a fraction for micro times); undefined when the text is no RFC 3339 time. */
export const parseTime = (text: string): number | undefined => {
  const match = RFC3339.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const offsetMinutes = match[8] === undefined ? 0 : Number(match[9]) * 60 + Number(match[10]);
  const offset = match[8] === '-' ? -offsetMinutes : offsetMinutes;
  const seconds = daysOfCivil(year, month, day) * 86_400 + hour * 3600 + (minute - offset) * 60 + second;
  return seconds * 1000 + Math.floor(Number(`0${match[7] ?? ''}`) * 1e6) / 1000;
};

/** The parts of an RFC 3339 time in order, with the name Go's layout has for each. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/^\d{4}/, '2006'],
  [/^-/, '-'],
  [/^\d{2}/, '01'],
  [/^-/, '-'],
  [/^\d{2}/, '02'],
  [/^T/, 'T'],
  [/^\d{1,2}/, '15'],
  [/^:/, ':'],
  [/^\d{2}/, '04'],
  [/^:/, ':'],
  [/^\d{2}(?:\.\d+)?/, '05'],
  [/^(?:Z|[+-]\d{2}:\d{2})/, 'Z07:00'],
];
const RANGES: readonly (readonly [name: string, start: number, min: number, max: number])[] = [
  ['month', 5, 1, 12],
  ['day', 8, 1, 31],
  ['hour', 11, 0, 23],
  ['minute', 14, 0, 59],
  ['second', 17, 0, 59],
];

/** Six digits, neither more nor fewer. */
const MICRO_PARTS: typeof PARTS = [
  ...PARTS.slice(0, 10),
  [/^\d{2}/, '05'],
  [/^[.,]\d{6}/, '.000000'],
  PARTS.at(-1)!,
];
const MICRO_TIME = /^[^.]{19}\.\d{6}(?:Z|[+-]\d{2}:\d{2})$/;

const layoutError = (text: string, parts: typeof PARTS): string | undefined => {
  const head = `parsing time ${JSON.stringify(text)}`;
  const whole = parts.map(([, layout]) => layout).join('');
  let rest = text;
  for (const [pattern, layout] of parts) {
    const match = pattern.exec(rest);
    if (!match) return `${head} as "${whole}": cannot parse ${JSON.stringify(rest)} as "${layout}"`;
    rest = rest.slice(match[0].length);
  }
  return rest === '' ? undefined : `${head}: extra text: ${JSON.stringify(rest)}`;
};

/** Why a text is no time with microseconds; undefined where it is one, or where `parseTime` finds what is wrong. */
export const microTimeParseError = (text: string): string | undefined =>
  MICRO_TIME.test(text) ? undefined : layoutError(text, MICRO_PARTS);

/** What Go's time parser says of a text that `parseTime` refuses. */
export const timeParseError = (text: string): string => {
  const head = `parsing time ${JSON.stringify(text)}`;
  const problem = layoutError(text, PARTS);
  if (problem !== undefined) return problem;
  const wrong = RANGES.find(([, start, min, max]) => {
    const value = Number(text.slice(start, start + 2));
    return value < min || value > max;
  });
  // The month is right and short: only the day can be too large for it.
  return `${head}: ${wrong?.[0] ?? 'day'} out of range`;
};
