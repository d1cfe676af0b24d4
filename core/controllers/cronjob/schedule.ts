import { parseCron, type CronFields } from '../../api/validation/cron.ts';
import { isTimeZone, startOfDayMs, zonedTime } from './zoned-time.ts';

export interface Schedule {
  /** The first time after that moment; undefined when none comes in five years. */
  next(afterMs: number): number | undefined;
}

export type ParsedSchedule =
  | { readonly schedule: Schedule }
  /** In the words of upstream's parser. */
  | { readonly error: string };

const MINUTE_MS = 60_000;
const YEARS_MAX = 5;
/** Each step leaves a month, a day, an hour or a minute that does not fit: five years of days are the most. */
const STEPS_MAX = 10_000;
const ZONE_PREFIX = /^(?:CRON_)?TZ=(\S*)\s*/;

const isDayMatching = (fields: CronFields, day: number, weekday: number): boolean => {
  const byMonth = fields.daysOfMonth.has(day);
  const byWeek = fields.daysOfWeek.has(weekday);
  return fields.anyDayOfMonth || fields.anyDayOfWeek ? byMonth && byWeek : byMonth || byWeek;
};

/**
 * As robfig/cron walks: hours and minutes are steps of real time, so that what is skipped by a change of the clock does
 * not run, and what comes twice runs twice.
 */
const fieldsSchedule = (fields: CronFields, zone: string): Schedule => ({
  next(afterMs) {
    const yearMax = zonedTime(zone, afterMs).year + YEARS_MAX;
    let atMs = (Math.floor(afterMs / MINUTE_MS) + 1) * MINUTE_MS;
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      const { year, month, day, hour, minute, weekday } = zonedTime(zone, atMs);
      if (year > yearMax) return undefined;
      if (!fields.months.has(month)) atMs = startOfDayMs(zone, year, month + 1, 1);
      else if (!isDayMatching(fields, day, weekday)) atMs = startOfDayMs(zone, year, month, day + 1);
      else if (!fields.hours.has(hour)) atMs += (60 - minute) * MINUTE_MS;
      else if (!fields.minutes.has(minute)) atMs += MINUTE_MS;
      else return atMs;
    }
    return undefined;
  },
});

/** Five fields, a descriptor, or `@every`; a zone in front of it wins over `timeZone`. */
export const parseSchedule = (text: string, timeZone = 'UTC'): ParsedSchedule => {
  const prefix = ZONE_PREFIX.exec(text);
  const zone = prefix?.[1] ?? timeZone;
  if (!isTimeZone(zone)) return { error: `provided bad location ${zone}: unknown time zone ${zone}` };
  const parsed = parseCron(prefix ? text.slice(prefix[0].length) : text);
  switch (parsed.kind) {
    case 'invalid':
      return { error: parsed.message };
    case 'every':
      return { schedule: { next: (afterMs) => Math.floor(afterMs / 1000) * 1000 + parsed.everyMs } };
    case 'fields':
      return { schedule: fieldsSchedule(parsed.fields, zone) };
  }
};
