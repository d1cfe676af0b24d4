import { expect, test } from 'vitest';
import { parseSchedule } from './schedule.ts';

const next = (text: string, after: string, zone?: string): string | undefined => {
  const parsed = parseSchedule(text, zone);
  if (!('schedule' in parsed)) throw new Error(parsed.error);
  const atMs = parsed.schedule.next(Date.parse(after));
  return atMs === undefined ? undefined : new Date(atMs).toISOString().replace('.000', '');
};

test.each([
  ['*/15 * * * *', '2026-07-09T14:45:30Z', '2026-07-09T15:00:00Z'],
  ['0 0 * * *', '2026-12-31T00:00:00Z', '2027-01-01T00:00:00Z'],
  ['0 9 * * mon-fri', '2026-01-02T09:00:00Z', '2026-01-05T09:00:00Z'],
  ['0 0 13 * 5', '2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'],
  ['0 0 29 2 *', '2026-01-01T00:00:00Z', '2028-02-29T00:00:00Z'],
  ['0 0 31 4 *', '2026-01-01T00:00:00Z', undefined],
  ['@hourly', '2026-01-01T00:30:00Z', '2026-01-01T01:00:00Z'],
  ['@every 90s', '2026-01-01T00:00:00.400Z', '2026-01-01T00:01:30Z'],
  ['TZ=Asia/Tokyo 0 9 * * *', '2026-01-01T01:00:00Z', '2026-01-02T00:00:00Z'],
])('%s after %s is at %s', (text, after, expected) => {
  expect(next(text, after)).toBe(expected);
});

/** New York: 2026-03-08 02:00 becomes 03:00, 2026-11-01 02:00 becomes 01:00. */
test.each([
  [
    'a time that is skipped does not come that day',
    '30 2 * * *',
    '2026-03-08T05:00:00Z',
    '2026-03-09T06:30:00Z',
  ],
  [
    'hours go on without the one that is skipped',
    '0 * * * *',
    '2026-03-08T06:00:00Z',
    '2026-03-08T07:00:00Z',
  ],
  [
    'a time that comes twice is taken the first time',
    '30 1 * * *',
    '2026-11-01T04:00:00Z',
    '2026-11-01T05:30:00Z',
  ],
  ['and the second', '30 1 * * *', '2026-11-01T05:30:00Z', '2026-11-01T06:30:00Z'],
  ['and then the next day', '30 1 * * *', '2026-11-01T06:30:00Z', '2026-11-02T06:30:00Z'],
  [
    'midnight is another moment of UTC after the change',
    '0 0 * * *',
    '2026-11-01T04:00:00Z',
    '2026-11-02T05:00:00Z',
  ],
])('over a change of the clock %s', (_, text, after, expected) => {
  expect(next(text, after, 'America/New_York')).toBe(expected);
});

test('a day whose midnight is skipped begins with the change', () => {
  expect(next('30 * * * *', '2018-11-04T02:59:00Z', 'America/Sao_Paulo')).toBe('2018-11-04T03:30:00Z');
  expect(next('0 1 4 11 *', '2018-11-01T00:00:00Z', 'America/Sao_Paulo')).toBe('2018-11-04T03:00:00Z');
});

test('unreadable input is reported', () => {
  expect(parseSchedule('61 * * * *')).toEqual({ error: 'end of range (61) above maximum (59): 61' });
  expect(parseSchedule('TZ=Mars/Olympus * * * * *')).toEqual({
    error: 'provided bad location Mars/Olympus: unknown time zone Mars/Olympus',
  });
});
