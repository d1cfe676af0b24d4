import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seededRandom } from '../../base/random.ts';
import {
  type Condition,
  apiVersionOf,
  compareKubeVersions,
  formatMicroTime,
  formatTime,
  generateName,
  groupVersionKindText,
  humanDuration,
  parseApiVersion,
  parseTime,
  timeParseError,
  withCondition,
} from './index.ts';

test('times are whole seconds, micro times six digits, and both are read back', () => {
  fc.assert(
    fc.property(fc.integer({ min: -62_135_596_800_000, max: 253_402_300_799_999 }), (ms) => {
      const iso = new Date(ms).toISOString();
      expect(formatTime(ms)).toBe(`${iso.slice(0, 19)}Z`);
      expect(formatMicroTime(ms)).toBe(`${iso.slice(0, 23)}000Z`);
      expect(parseTime(iso)).toBe(ms);
    }),
  );
});

test.each([
  ['2026-02-28T23:59:59Z', true],
  ['2024-02-29T00:00:00+02:00', true],
  ['2026-02-29T00:00:00Z', false],
  ['2026-13-01T00:00:00Z', false],
  ['2026-01-01T24:00:00Z', false],
  ['2026-01-01', false],
  ['2026-01-01 00:00:00Z', false],
])('%s is a time: %s', (text, good) => {
  expect(parseTime(text) !== undefined).toBe(good);
});

test.each([
  ['soon', 'parsing time "soon" as "2006-01-02T15:04:05Z07:00": cannot parse "soon" as "2006"'],
  ['2026-01-02', 'parsing time "2026-01-02" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"'],
  ['2026-13-02T00:00:00Z', 'parsing time "2026-13-02T00:00:00Z": month out of range'],
  ['2026-02-30T00:00:00Z', 'parsing time "2026-02-30T00:00:00Z": day out of range'],
  ['2026-02-03T00:00:00Zx', 'parsing time "2026-02-03T00:00:00Zx": extra text: "x"'],
])('%s is refused as Go refuses it', (text, message) => {
  expect(parseTime(text)).toBeUndefined();
  expect(timeParseError(text)).toBe(message);
});

test('microseconds survive a round trip', () => {
  const text = '2026-11-16T06:40:08.123457Z';
  expect(formatMicroTime(parseTime(text)!)).toBe(text);
});

test('an offset is taken off', () => {
  expect(parseTime('2024-02-29T00:30:00+02:00')).toBe(Date.UTC(2024, 1, 28, 22, 30));
});

test.each([
  [-5000, '<invalid>'],
  [-500, '0s'],
  [119_000, '119s'],
  [120_000, '2m'],
  [312_000, '5m12s'],
  [11 * 60_000, '11m'],
  [4 * 3_600_000 + 60_000, '4h1m'],
  [9 * 3_600_000, '9h'],
  [52 * 3_600_000, '2d4h'],
  [9 * 86_400_000, '9d'],
  [800 * 86_400_000, '2y70d'],
  [4000 * 86_400_000, '10y'],
])('%d ms old is shown as %s', (ms, text) => {
  expect(humanDuration(ms)).toBe(text);
});

test('a generated name fits a label and ends in five letters that spell nothing', () => {
  const name = generateName(`${'a'.repeat(80)}-`, seededRandom(7));
  expect(name).toMatch(/^a{58}[bcdfghjklmnpqrstvwxz2456789]{5}$/);
});

test('group versions are written and read, and ordered with the most stable first', () => {
  expect(parseApiVersion('apps/v1')).toEqual({ group: 'apps', version: 'v1' });
  expect(parseApiVersion('v1')).toEqual({ group: '', version: 'v1' });
  expect(parseApiVersion('a/b/c')).toBeUndefined();
  expect(apiVersionOf({ group: '', version: 'v1' })).toBe('v1');
  expect(groupVersionKindText({ group: 'apps', version: 'v1', kind: 'Deployment' })).toBe(
    'apps/v1, Kind=Deployment',
  );
  expect(
    ['foo1', 'v1alpha1', 'v1', 'v2beta1', 'v10', 'v1beta2', 'v2', 'foo10'].sort(compareKubeVersions),
  ).toEqual(['v10', 'v2', 'v1', 'v2beta1', 'v1beta2', 'v1alpha1', 'foo1', 'foo10']);
});

test('a condition keeps the time of its last transition until its status changes', () => {
  const first = withCondition<Condition>(undefined, { type: 'Ready', status: 'False', reason: 'A' }, 't1');
  const second = withCondition(first, { type: 'Ready', status: 'False', reason: 'B' }, 't2');
  const third = withCondition(second, { type: 'Ready', status: 'True', reason: 'B' }, 't3');
  expect([first[0], second[0], third[0]]).toEqual([
    { type: 'Ready', status: 'False', reason: 'A', lastTransitionTime: 't1' },
    { type: 'Ready', status: 'False', reason: 'B', lastTransitionTime: 't1' },
    { type: 'Ready', status: 'True', reason: 'B', lastTransitionTime: 't3' },
  ]);
  expect(withCondition(third, { type: 'Ready', status: 'True', reason: 'B' }, 't4')).toBe(third);
});
