import { computed } from 'vue';
import { locale, t } from './i18n.ts';

/** Numbers and times as the chosen language writes them. All reactive to the language. */

const formatter = (options: Intl.NumberFormatOptions) =>
  computed(() => new Intl.NumberFormat(locale.value, options));

const whole = formatter({ maximumFractionDigits: 0 });
const oneDigit = formatter({ minimumFractionDigits: 1, maximumFractionDigits: 1 });

export const formatCount = (value: number): string => whole.value.format(value);

/** 6.4, 38: one digit below ten, where it tells something. */
export const formatShort = (value: number): string =>
  (value !== 0 && Math.abs(value) < 10 ? oneDigit : whole).value.format(value);

const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

export const formatBytes = (bytes: number): string => {
  const power = Math.min(BYTE_UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)));
  const value = bytes / 2 ** (10 * power);
  const digits = power > 0 && value < 100 ? oneDigit : whole;
  return `${digits.value.format(value)} ${BYTE_UNITS[power]}`;
};

const SECOND_MS = 1000;
const TENTH_MS = 0.1;

/** 6.4 ms, 38 ms, 3.5 s; what is too short to be told in tenths is less than one, not nothing. */
export const formatMilliseconds = (milliseconds: number): string => {
  if (milliseconds >= SECOND_MS) return `${formatShort(milliseconds / SECOND_MS)} s`;
  if (milliseconds > 0 && milliseconds < TENTH_MS) return `< ${oneDigit.value.format(TENTH_MS)} ms`;
  return `${formatShort(milliseconds)} ms`;
};

export const formatPercent = (percent: number): string => `${oneDigit.value.format(percent)} %`;

/** English of no country: the day before the month, as every log of the world is read. */
export const dateLocale = computed(() => (locale.value === 'en' ? 'en-GB' : locale.value));

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** 31 s, 2 min 26 s, 3 h 51 min, 6 d 02 h: the two largest units, in SI symbols, which need no translation. */
export const formatDuration = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return `${formatCount(days)} d ${twoDigits(hours % 24)} h`;
  if (hours > 0) return `${hours} h ${twoDigits(minutes % 60)} min`;
  if (minutes > 0) return `${minutes} min ${twoDigits(seconds % 60)} s`;
  return `${seconds} s`;
};

/** 2.8 s, 31 s, 2 min 26 s: with a digit where seconds are few. */
export const formatSeconds = (milliseconds: number): string =>
  milliseconds < 10_000 ? `${formatShort(Math.max(0, milliseconds) / 1000)} s` : formatDuration(milliseconds);

/** 31 s, 4 min, 21 h, 6 d: the largest unit alone, for columns. */
export const formatAge = (milliseconds: number): string => {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${formatCount(Math.floor(hours / 24))} d`;
};

/** A fixed stretch of time, without a remainder of zero: 2 min. */
export const formatSpan = (milliseconds: number): string =>
  formatDuration(milliseconds).replace(/ 00 \w+$/, '');

export const formatAgo = (milliseconds: number): string =>
  milliseconds < 1000 ? t('time.now') : t('time.ago', { age: formatDuration(milliseconds) });

/** British dates have one month of four letters, which no column of dates expects. */
export const threeLetters = (date: string): string => date.replace(/\bSept\b(?!\.)/, 'Sep');

const minute = computed(
  () => new Intl.DateTimeFormat(dateLocale.value, { timeStyle: 'short', hour12: false }),
);
const clock = computed(
  () => new Intl.DateTimeFormat(dateLocale.value, { timeStyle: 'medium', hour12: false }),
);
const moment = computed(
  () =>
    new Intl.DateTimeFormat(dateLocale.value, {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hour12: false,
      timeZoneName: 'short',
    }),
);
const zone = computed(() => new Intl.DateTimeFormat(dateLocale.value, { timeZoneName: 'short' }));

/** 14:32, for a clock on the wall. */
export const formatMinute = (atMs: number): string => minute.value.format(atMs);
/** 14:32:07, in the zone that `formatZone` names. */
export const formatClock = (atMs: number): string => clock.value.format(atMs);
/** 16 Sep 2026, 14:32:07 UTC: for tooltips. */
export const formatMoment = (atMs: number): string => threeLetters(moment.value.format(atMs));
export const formatZone = (atMs: number): string =>
  zone.value.formatToParts(atMs).find((part) => part.type === 'timeZoneName')?.value ?? '';
