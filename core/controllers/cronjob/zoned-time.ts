/** Wall-clock time of a zone. */
export interface ZonedTime {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  /** 0 is Sunday. */
  readonly weekday: number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** No zone changes its clock by more at a time. */
const SHIFT_MS_MAX = 26 * HOUR_MS;

const FORMATS = new Map<string, Intl.DateTimeFormat>();
/** A cluster uses few zones; beyond this the oldest is made again when needed. */
const FORMATS_MAX = 64;

const formatOf = (zone: string): Intl.DateTimeFormat => {
  const known = FORMATS.get(zone);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  if (FORMATS.size >= FORMATS_MAX) FORMATS.delete(FORMATS.keys().next().value!);
  FORMATS.set(zone, format);
  return format;
};

export const isTimeZone = (zone: string): boolean => {
  try {
    formatOf(zone);
    return true;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/** How far the zone's wall clock is ahead of UTC at that moment. */
export const offsetMs = (zone: string, atMs: number): number => {
  if (zone === 'UTC') return 0;
  const wholeMs = Math.floor(atMs / 1000) * 1000;
  const part: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(wholeMs)) part[type] = Number(value);
  const { year = 0, month = 1, day, hour, minute, second } = part;
  return Date.UTC(year, month - 1, day, hour, minute, second) - wholeMs;
};

export const zonedTime = (zone: string, atMs: number): ZonedTime => {
  const local = new Date(atMs + offsetMs(zone, atMs));
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
    weekday: local.getUTCDay(),
  };
};

/** The first moment of a day in the zone; where midnight is skipped, the moment of the change. `day` may overflow. */
export const startOfDayMs = (zone: string, year: number, month: number, day: number): number => {
  const midnightMs = Date.UTC(year, month - 1, day);
  const candidates = [midnightMs - SHIFT_MS_MAX, midnightMs + SHIFT_MS_MAX].map(
    (nearMs) => midnightMs - offsetMs(zone, nearMs),
  );
  const exact = candidates
    .filter((atMs) => atMs + offsetMs(zone, atMs) === midnightMs)
    .sort((a, b) => a - b)[0];
  return exact ?? Math.max(...candidates);
};

/** RFC 3339 with the offset of the zone. */
export const formatZonedTime = (zone: string, atMs: number): string => {
  const shiftMs = offsetMs(zone, atMs);
  const text = new Date(atMs + shiftMs).toISOString().slice(0, 19);
  if (shiftMs === 0) return `${text}Z`;
  const minutes = Math.abs(shiftMs) / MINUTE_MS;
  const pad = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${text}${shiftMs < 0 ? '-' : '+'}${pad(minutes / 60)}:${pad(minutes % 60)}`;
};
