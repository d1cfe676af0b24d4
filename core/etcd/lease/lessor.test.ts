import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import type { LeaseBook } from '../mvcc/leases.ts';
import {
  decodeLeaseRow,
  encodeLeaseRow,
  leaseMetrics,
  leaseRowKey,
  Lessor,
  minLeaseTtlSeconds,
  type LeaseCheckpoint,
  type LeaseRow,
  type LessorOptions,
} from './index.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text, 'latin1');
const texts = (keys: readonly Uint8Array[]): string[] =>
  keys.map((key) => Buffer.from(key).toString('latin1'));

const setUp = (options: Partial<LessorOptions> = {}) => {
  const clock = manualClock();
  const stored = new Map<string, LeaseRow>();
  const rows = {
    put: (key: Uint8Array, value: Uint8Array) =>
      void stored.set(Buffer.from(key).toString('hex'), { key, value }),
    delete: (key: Uint8Array) => void stored.delete(Buffer.from(key).toString('hex')),
  };
  const lessor = new Lessor({ clock, rows, minTtlSeconds: 2, ...options });
  const records = () => [...stored.values()].map(({ key, value }) => decodeLeaseRow(key, value));
  return { clock, rows, stored, lessor, records };
};

const reasonOf = (run: () => unknown): unknown => {
  try {
    run();
  } catch (error) {
    return (error as { reason?: unknown }).reason;
  }
  return undefined;
};

test('a lease gets at least one and a half election timeouts, and never more than 9e9 seconds', () => {
  const { lessor } = setUp({ minTtlSeconds: minLeaseTtlSeconds(1100) });
  expect(lessor.grant(1n, 1).grantedTtlSeconds).toBe(2);
  expect(lessor.grant(2n, 9_000_000_000).grantedTtlSeconds).toBe(9_000_000_000);
  expect(reasonOf(() => lessor.grant(3n, 9_000_000_001))).toBe('LeaseTTLTooLarge');
  expect(reasonOf(() => lessor.grant(1n, 5))).toBe('LeaseExist');
  expect(reasonOf(() => lessor.grant(0n, 5))).toBe('LeaseNotFound');
});

test('minimum TTL follows etcd: 1 s election gives 2 s, 100 ms gives 1 s', () => {
  expect([1000, 100, 2000, 3000].map(minLeaseTtlSeconds)).toEqual([2, 1, 3, 5]);
});

test('revoking gives the attached keys in byte order and forgets lease, keys and row', () => {
  const { lessor, stored } = setUp();
  lessor.grant(7n, 10);
  for (const key of ['b', '\xff', 'a', '\x80', 'gone']) lessor.attach(7n, bytes(key));
  lessor.detach(7n, bytes('gone'));
  expect(lessor.leaseOf(bytes('\xff'))).toBe(7n);
  expect(texts(lessor.revoke(7n))).toEqual(['a', 'b', '\x80', '\xff']);
  expect([lessor.lookup(7n), lessor.leaseOf(bytes('a')), stored.size]).toEqual([undefined, 0n, 0]);
  expect(reasonOf(() => lessor.revoke(7n))).toBe('LeaseNotFound');
  lessor.attach(7n, bytes('a'));
  expect(lessor.leaseOf(bytes('a'))).toBe(0n);
});

test('a key belongs to its last lease only', () => {
  const { lessor } = setUp();
  lessor.grant(1n, 10);
  lessor.grant(2n, 10);
  lessor.attach(1n, bytes('k'));
  lessor.attach(2n, bytes('k'));
  lessor.detach(1n, bytes('k'));
  expect([lessor.leaseOf(bytes('k')), texts(lessor.revoke(1n)), texts(lessor.revoke(2n))]).toEqual([
    2n,
    [],
    ['k'],
  ]);
});

test('a lessor is the lease book of the store, with keys as bytes or as latin1 text', () => {
  const { lessor } = setUp();
  const book: LeaseBook = lessor;
  lessor.grant(1n, 10);
  book.attach(1n, '\xffk');
  expect([book.exists(1n), book.exists(2n), lessor.leaseOf(bytes('\xffk'))]).toEqual([true, false, 1n]);
});

test('where this member does not lead, leases neither end nor renew', async () => {
  const { lessor, clock } = setUp();
  lessor.grant(1n, 10);
  clock.advance(3_600_000);
  expect(lessor.takeExpired(10)).toEqual([]);
  expect(lessor.lookup(1n)?.remainingMs).toBe(Infinity);
  await expect(lessor.renew(1n)).rejects.toMatchObject({ reason: 'NotPrimary' });
});

test('a leader finds leases due in order, and again after three seconds if no one revoked them', () => {
  const { lessor, clock } = setUp();
  lessor.promote(0);
  lessor.grant(1n, 10);
  lessor.grant(2n, 5);
  lessor.grant(3n, 60);
  clock.advance(4999);
  expect(lessor.takeExpired(10)).toEqual([]);
  clock.advance(5001);
  expect(lessor.takeExpired(10)).toEqual([2n, 1n]);
  expect(lessor.takeExpired(10)).toEqual([]);
  lessor.revoke(2n);
  clock.advance(3000);
  expect([lessor.takeExpired(10), lessor.list()]).toEqual([[1n], [1n, 3n]]);
});

test('no more due leases are handed out than asked for', () => {
  const { lessor, clock } = setUp();
  lessor.promote(0);
  for (let id = 1n; id <= 5n; id += 1n) lessor.grant(id, 10);
  clock.advance(10_000);
  expect([lessor.takeExpired(3).length, lessor.takeExpired(3).length, lessor.takeExpired(3).length]).toEqual([
    3, 2, 0,
  ]);
});

test('renewing gives the whole TTL from now', async () => {
  const { lessor, clock } = setUp();
  lessor.promote(0);
  lessor.grant(1n, 10);
  clock.advance(9000);
  expect(await lessor.renew(1n)).toBe(10);
  clock.advance(9999);
  expect([lessor.takeExpired(1), lessor.lookup(1n)?.remainingMs]).toEqual([[], 1]);
  await expect(lessor.renew(9n)).rejects.toMatchObject({ reason: 'LeaseNotFound' });
});

test('renewing a due lease waits: not found once it is revoked, not primary once the leader steps down', async () => {
  const { lessor, clock } = setUp();
  lessor.promote(0);
  lessor.grant(1n, 5);
  lessor.grant(2n, 5);
  clock.advance(5000);
  const first = lessor.renew(1n);
  const second = lessor.renew(2n);
  lessor.revoke(1n);
  await expect(first).rejects.toMatchObject({ reason: 'LeaseNotFound' });
  lessor.demote();
  await expect(second).rejects.toMatchObject({ reason: 'NotPrimary' });
});

test('a new leader gives every lease its whole TTL and the extension, so that none ends early', () => {
  const { lessor, clock } = setUp();
  lessor.promote(0);
  lessor.grant(1n, 10);
  clock.advance(9000);
  lessor.demote();
  lessor.promote(1000);
  expect(lessor.lookup(1n)?.remainingMs).toBe(11_000);
});

test('leases that would end together are spread to 750 a second, and none is hastened', () => {
  const { lessor, clock } = setUp();
  for (let id = 1n; id <= 3000n; id += 1n) lessor.grant(id, id <= 2500n ? 10 : 3600);
  lessor.promote(0);
  const perSecond: number[] = [];
  for (let second = 1; second <= 20; second += 1) {
    clock.advance(1000);
    const due = lessor.takeExpired(10_000);
    for (const id of due) lessor.revoke(id);
    perSecond.push(due.length);
  }
  expect(perSecond.slice(0, 9)).toEqual(new Array(9).fill(0));
  expect(perSecond.slice(9)).toEqual([750, 750, 750, 250, 0, 0, 0, 0, 0, 0, 0]);
});

test('a long lease is checkpointed at intervals, and a new leader continues from there', () => {
  const proposed: LeaseCheckpoint[] = [];
  const { lessor, clock, records } = setUp({ proposeCheckpoint: async (c) => void proposed.push(c) });
  lessor.promote(0);
  lessor.grant(1n, 1000);
  lessor.grant(2n, 300);
  clock.advance(300_000);
  const due = lessor.takeDueCheckpoints(10);
  expect(due).toEqual([{ id: 1n, remainingTtlSeconds: 700 }]);
  for (const checkpoint of due) lessor.checkpoint(checkpoint);
  expect(records()[0]).toEqual({ id: 1n, ttlSeconds: 1000, remainingTtlSeconds: 700 });
  lessor.demote();
  lessor.promote(0);
  expect([lessor.lookup(1n)?.remainingMs, lessor.lookup(2n)?.remainingMs]).toEqual([700_000, 300_000]);
});

test('a checkpoint that got lost is taken again an interval later', () => {
  const { lessor, clock } = setUp({ proposeCheckpoint: async () => {} });
  lessor.promote(0);
  lessor.grant(1n, 1000);
  clock.advance(300_000);
  lessor.takeDueCheckpoints(10);
  clock.advance(300_000);
  expect(lessor.takeDueCheckpoints(10)).toEqual([{ id: 1n, remainingTtlSeconds: 400 }]);
});

test('renewing a checkpointed lease clears the stored remainder before it answers', async () => {
  const { lessor, clock, records } = setUp({ proposeCheckpoint: async (c) => lessor.checkpoint(c) });
  lessor.promote(0);
  lessor.grant(1n, 1000);
  clock.advance(300_000);
  for (const checkpoint of lessor.takeDueCheckpoints(10)) lessor.checkpoint(checkpoint);
  expect(await lessor.renew(1n)).toBe(1000);
  expect([records()[0]?.remainingTtlSeconds, lessor.lookup(1n)?.remainingMs]).toEqual([0, 1_000_000]);
});

test('a renewal fails when the remainder could not be cleared, or the leader changed meanwhile', async () => {
  let outcome: () => Promise<void> = () => Promise.reject(new Error('no quorum'));
  const { lessor, clock } = setUp({ proposeCheckpoint: () => outcome() });
  lessor.promote(0);
  lessor.grant(1n, 1000);
  clock.advance(300_000);
  lessor.checkpoint({ id: 1n, remainingTtlSeconds: 700 });
  await expect(lessor.renew(1n)).rejects.toThrow('no quorum');
  outcome = async () => lessor.demote();
  await expect(lessor.renew(1n)).rejects.toMatchObject({ reason: 'NotPrimary' });
});

test('leases come back from the backend with their keys, and keys of unknown leases are skipped', () => {
  const { lessor } = setUp();
  const negative = -0x1234n;
  lessor.recover({
    rows: [
      { key: leaseRowKey(5n), value: encodeLeaseRow({ id: 5n, ttlSeconds: 60, remainingTtlSeconds: 20 }) },
      {
        key: leaseRowKey(negative),
        value: encodeLeaseRow({ id: negative, ttlSeconds: 1, remainingTtlSeconds: 0 }),
      },
    ],
    attachments: [
      { key: bytes('a'), lease: 5n },
      { key: bytes('b'), lease: 6n },
    ],
  });
  lessor.promote(500);
  expect([lessor.lookup(5n)?.remainingMs, lessor.lookup(negative)?.grantedTtlSeconds]).toEqual([20_500, 2]);
  expect([texts(lessor.revoke(5n)), lessor.leaseOf(bytes('b'))]).toEqual([['a'], 0n]);
});

test('rows are what etcd writes', () => {
  const id = 0x694d7a2b3c4d5e6fn;
  expect(Buffer.from(leaseRowKey(id)).toString('hex')).toBe('694d7a2b3c4d5e6f');
  expect(
    Buffer.from(encodeLeaseRow({ id: 300n, ttlSeconds: 5, remainingTtlSeconds: 0 })).toString('hex'),
  ).toBe('08ac021005');
  expect(() => decodeLeaseRow(bytes('short'), bytes(''))).toThrow('no lease id');
});

test('lease operations are counted under the metric names of upstream', async () => {
  const registry = new Registry();
  const { lessor, clock } = setUp({ metrics: leaseMetrics(registry) });
  lessor.promote(0);
  lessor.grant(1n, 10);
  lessor.grant(2n, 10);
  await lessor.renew(1n);
  lessor.revoke(2n);
  clock.advance(10_000);
  lessor.revoke(1n);
  const text = registry.expose();
  for (const line of [
    'etcd_debugging_lease_granted_total 2',
    'etcd_debugging_lease_revoked_total 2',
    'etcd_debugging_lease_renewed_total 1',
    'etcd_debugging_server_lease_expired_total 1',
    'etcd_debugging_lease_ttl_total_bucket{le="16"} 2',
  ]) {
    expect(text).toContain(`${line}\n`);
  }
});
