import { expect, test } from 'vitest';
import { ageMsOf, leaseState, leftOf, shortHolder } from './lease-state.ts';

const lease = { holder: 'cp-1', kind: 'election', renewedAtMs: 100_000, durationSeconds: 15 } as const;

test('a holder is shown without the random part of its name', () => {
  expect([
    shortHolder('cp-1_3f0b1c2d-1111-4222-8333-444455556666'),
    shortHolder('cp-1_3f0b1c2d111142228333444455556666'),
    shortHolder('ip-10-0-0-1.ec2.internal_external-attacher'),
    shortHolder('worker-5'),
  ]).toEqual(['cp-1', 'cp-1', 'ip-10-0-0-1.ec2.internal_external-attacher', 'worker-5']);
});

test('the remaining time follows the clock of the server and stays between zero and the duration', () => {
  expect([90_000, 100_000, 106_000, 115_000, 200_000].map((now) => leftOf(lease, now).leftMs)).toEqual([
    15_000, 15_000, 9000, 0, 0,
  ]);
});

test('a lease that was never renewed has no age and nothing left', () => {
  const never = { ...lease, renewedAtMs: null };
  expect([ageMsOf(never, 5), leftOf(never, 5).share]).toEqual([undefined, 0]);
});

test('a lease is held, late, then expired; without a holder it is vacant', () => {
  expect([
    leaseState(lease, 102_000),
    leaseState(lease, 106_000),
    leaseState(lease, 116_000),
    leaseState({ ...lease, holder: '' }, 102_000),
  ]).toEqual(['held', 'late', 'expired', 'vacant']);
});

test('a heartbeat of a node is late after the second of four chances', () => {
  const node = { ...lease, kind: 'node', durationSeconds: 40 } as const;
  expect([leaseState(node, 115_000), leaseState(node, 121_000)]).toEqual(['held', 'late']);
});

test('a lease without a duration is expired, not a division by zero', () => {
  expect(leaseState({ ...lease, durationSeconds: 0 }, 100_000)).toBe('expired');
});
