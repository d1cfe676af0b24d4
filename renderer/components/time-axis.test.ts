// @vitest-environment happy-dom
import { expect, test } from 'vitest';
import { isTimeWindow, spanOf, tickStepMs, timeTicks, xOf } from './time-axis.ts';

const HOUR_MS = 3_600_000;
const scale = { fromMs: 1000, toMs: 2000, width: 100 };

test('a moment outside the window is at its edge', () => {
  expect([500, 1000, 1250, 2000, 9000].map((at) => xOf(scale, at))).toEqual([0, 0, 25, 100, 100]);
});

test('a window without length does not divide by zero', () => {
  expect(xOf({ fromMs: 5, toMs: 5, width: 100 }, 5)).toBe(0);
});

test('a span is cut at the window, and one outside is not drawn', () => {
  expect([spanOf(scale, 0, 1500), spanOf(scale, 0, 900), spanOf(scale, 2001, 3000)]).toEqual([
    { x: 0, width: 50 },
    undefined,
    undefined,
  ]);
});

test('a short span is widened to be seen, without leaving the window', () => {
  expect([spanOf(scale, 1500, 1501, 6), spanOf(scale, 1999, 2000, 6)]).toEqual([
    { x: 50, width: 6 },
    { x: 94, width: 6 },
  ]);
});

test('ticks fall on round moments of the clock of the reader', () => {
  const fromMs = Date.UTC(2026, 10, 16, 5, 40);
  const ticks = timeTicks({ fromMs, toMs: fromMs + 24 * HOUR_MS }, 6, HOUR_MS);
  // Berlin: 08:00, 12:00, 16:00, 20:00, 00:00 and 04:00 there.
  expect(ticks.map((at) => new Date(at).getUTCHours())).toEqual([7, 11, 15, 19, 23, 3]);
});

test('a step never gives more ticks than there is room for', () => {
  for (const spanMs of [300_000, HOUR_MS, 6 * HOUR_MS, 24 * HOUR_MS, 900 * 24 * HOUR_MS])
    expect(spanMs / tickStepMs(spanMs, 7)).toBeLessThanOrEqual(7);
});

test('a window from an address is one of ours, or none', () => {
  expect(['1h', '2h', 'constructor', undefined].map(isTimeWindow)).toEqual([true, false, false, false]);
});
