import { expect, test } from 'vitest';
import { leaseFixture } from './lease-fixture.ts';
import { holderColours, holderSpans, OTHER_COLOUR } from './holder-spans.ts';

const spansOf = (segments: Parameters<typeof leaseFixture>[1], nowMs = 100_000) =>
  holderSpans(leaseFixture('kube-scheduler', { renewedAtMs: nowMs, ...segments }), nowMs).map(
    ({ holder, fromMs, toMs }) => [holder, fromMs, toMs],
  );

test('between a killed holder and the next one no one holds the lease', () => {
  expect(
    spansOf({
      segments: [
        { holder: 'cp-3', fromMs: 0, toMs: 40_000 },
        { holder: 'cp-1', fromMs: 56_000, toMs: null },
      ],
    }),
  ).toEqual([
    ['cp-3', 0, 40_000],
    ['', 40_000, 56_000],
    ['cp-1', 56_000, null],
  ]);
});

test('the previous holder is known across a time without a holder', () => {
  const lease = leaseFixture('kube-scheduler', {
    renewedAtMs: 100_000,
    segments: [
      { holder: 'cp-3', fromMs: 0, toMs: 40_000 },
      { holder: 'cp-1', fromMs: 56_000, toMs: null },
    ],
  });
  expect(holderSpans(lease, 100_000).map(({ before }) => before)).toEqual(['', 'cp-3', 'cp-3']);
});

test('an orderly hand-over has no gap', () => {
  expect(
    spansOf({
      segments: [
        { holder: 'cp-3', fromMs: 0, toMs: 40_000 },
        { holder: 'cp-1', fromMs: 40_300, toMs: null },
      ],
    }),
  ).toHaveLength(2);
});

test('a lease that ran out is held by no one since then', () => {
  expect(spansOf({ segments: [{ holder: 'cp-3', fromMs: 0, toMs: null }], renewedAtMs: 60_000 })).toEqual([
    ['cp-3', 0, 75_000],
    ['', 75_000, null],
  ]);
});

test('a lease that was given up is vacant, once', () => {
  expect(
    spansOf({
      segments: [
        { holder: 'cp-3', fromMs: 0, toMs: 40_000 },
        { holder: '', fromMs: 40_000, toMs: null },
      ],
    }),
  ).toEqual([
    ['cp-3', 0, 40_000],
    ['', 40_000, null],
  ]);
});

test('a holder that restarted immediately is one stretch', () => {
  const id = (digit: string) => `cp-3_${digit.repeat(8)}-1111-4222-8333-444455556666`;
  expect(
    spansOf({
      segments: [
        { holder: id('a'), fromMs: 0, toMs: 40_000 },
        { holder: id('b'), fromMs: 40_100, toMs: null },
      ],
    }),
  ).toEqual([['cp-3', 0, null]]);
});

test('holders keep their colour, and the seventh shares one', () => {
  const spans = [10, 2, 3, 4, 5, 6, 7].map((number) => ({
    lease: 'a',
    holder: `cp-${number}`,
    fromMs: 0,
    toMs: null,
    before: '',
  }));
  expect([...holderColours(spans)]).toEqual([
    ['cp-2', 1],
    ['cp-3', 2],
    ['cp-4', 3],
    ['cp-5', 4],
    ['cp-6', 5],
    ['cp-7', 6],
    ['cp-10', OTHER_COLOUR],
  ]);
});
