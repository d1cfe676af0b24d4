import { expect, test } from 'vitest';
import { LEASE_SEGMENTS_MAX, type LeaseView } from '../../../contract/index.ts';
import type { Lease, Stored } from '../../../client/index.ts';
import { trackLease } from './lease-track.ts';

const START_MS = Date.parse('2026-01-01T00:00:00Z');
const time = (second: number): string => new Date(START_MS + second * 1000).toISOString();

const lease = (
  holder: string,
  { acquired, renewed }: { readonly acquired: number; readonly renewed: number },
  namespace = 'kube-system',
  labels: Record<string, string> = {},
): Stored<Lease> =>
  ({
    metadata: { name: 'kube-scheduler', namespace, labels, uid: 'u', resourceVersion: '1' },
    spec: {
      holderIdentity: holder,
      acquireTime: time(acquired),
      renewTime: time(renewed),
      leaseDurationSeconds: 15,
      leaseTransitions: 1,
    },
  }) as unknown as Stored<Lease>;

const follow = (seen: readonly (readonly [Stored<Lease>, number])[]): LeaseView =>
  seen.reduce<LeaseView | undefined>(
    (before, [one, second]) => trackLease(before, one, START_MS + second * 1000),
    undefined,
  )!;

const spans = ({ segments }: LeaseView) =>
  segments.map(({ holder, fromMs, toMs }) => [
    holder,
    (fromMs - START_MS) / 1000,
    toMs === null ? null : (toMs - START_MS) / 1000,
  ]);

test('a holder that falls silent has its time until the lease has run out, and then no one has', () => {
  const view = follow([
    [lease('a', { acquired: 0, renewed: 10 }), 11],
    [lease('a', { acquired: 0, renewed: 12 }), 13],
    [lease('b', { acquired: 30, renewed: 30 }), 31],
  ]);
  expect(spans(view)).toEqual([
    ['a', 0, 27],
    ['b', 30, null],
  ]);
});

test('a holder that is followed immediately has its time until the next one says', () => {
  const view = follow([
    [lease('a', { acquired: 0, renewed: 12 }), 13],
    [lease('b', { acquired: 14, renewed: 14 }), 15],
  ]);
  expect(spans(view)).toEqual([
    ['a', 0, 14],
    ['b', 14, null],
  ]);
});

test('a lease that was given up has no holder until somebody takes it', () => {
  const view = follow([
    [lease('a', { acquired: 0, renewed: 10 }), 11],
    [lease('', { acquired: 0, renewed: 12 }), 12],
    [lease('a', { acquired: 20, renewed: 20 }), 21],
  ]);
  expect(spans(view)).toEqual([
    ['a', 0, 12],
    ['a', 20, null],
  ]);
});

test('gaps between renewals are one holder’s own, newest last', () => {
  const view = follow([
    [lease('a', { acquired: 0, renewed: 0 }), 0],
    [lease('a', { acquired: 0, renewed: 2 }), 2],
    [lease('a', { acquired: 0, renewed: 2 }), 3],
    [lease('a', { acquired: 0, renewed: 9 }), 9],
    [lease('b', { acquired: 30, renewed: 30 }), 30],
    [lease('b', { acquired: 30, renewed: 31 }), 31],
  ]);
  expect(view.renewGapsSeconds).toEqual([2, 7, 1]);
});

test('segments and gaps are bounded', () => {
  const view = follow(
    Array.from({ length: 200 }, (_, index) => [
      lease(index % 2 === 0 ? 'a' : 'b', { acquired: index, renewed: index }),
      index,
    ]),
  );
  expect([view.segments.length, view.segments.at(-1)?.toMs]).toEqual([LEASE_SEGMENTS_MAX, null]);
  const renewed = follow(
    Array.from({ length: 200 }, (_, index) => [lease('a', { acquired: 0, renewed: index }), index]),
  );
  expect(renewed.renewGapsSeconds.length).toBe(60);
});

test('leases of nodes, of API servers and of elections are distinguished', () => {
  const at = { acquired: 0, renewed: 0 };
  const identity = { 'apiserver.kubernetes.io/identity': 'kube-apiserver' };
  const kinds = [
    lease('a', at, 'kube-node-lease'),
    lease('a', at, 'kube-system', identity),
    lease('a', at),
  ].map((one) => trackLease(undefined, one, START_MS).kind);
  expect(kinds).toEqual(['node', 'server', 'election']);
});
