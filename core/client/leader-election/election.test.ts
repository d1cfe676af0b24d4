import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { Registry } from '../../base/metrics/index.ts';
import { seededRandom } from '../../base/random.ts';
import { internalError } from '../../api/meta/status-errors.ts';
import { CONFIG_MAP, LEASE } from '../kinds.ts';
import { isFenced } from '../rest/errors.ts';
import { TransportError } from '../rest/transport.ts';
import { FakeApi } from '../testing/index.ts';
import type { ElectionEnd, ElectionOptions, Leadership } from './election.ts';
import { runElection } from './run-election.ts';

const LEASE_NAME = { namespace: 'kube-system', name: 'test' };

const stand = (api: FakeApi, identity: string, more: Partial<ElectionOptions> = {}) => {
  const stop = new AbortController();
  const seen = { leadership: undefined as Leadership | undefined, end: undefined as ElectionEnd | undefined };
  const leaders: string[] = [];
  const done = runElection(
    {
      client: api.client(identity),
      clock: api.clock,
      random: api.random,
      log: silentLog,
      lease: LEASE_NAME,
      identity,
      lead: (leadership) => {
        seen.leadership = leadership;
        return new Promise((resolve) => leadership.signal.addEventListener('abort', () => resolve()));
      },
      onNewLeader: (leader) => leaders.push(leader),
      ...more,
    },
    stop.signal,
  ).then((end) => (seen.end = end));
  return {
    stop,
    done,
    leaders,
    get leadership() {
      return seen.leadership;
    },
    get end() {
      return seen.end;
    },
    get isLeading() {
      return seen.leadership !== undefined && !seen.leadership.signal.aborted;
    },
  };
};

const spec = (api: FakeApi) => api.get(LEASE, 'test', 'kube-system').spec;

test('the first becomes leader and renews, the second waits', async () => {
  const api = new FakeApi();
  const registry = new Registry();
  const a = stand(api, 'a', { registry });
  await api.settle();
  const b = stand(api, 'b');
  await api.advance(60_000, 1_000);
  expect([a.isLeading, b.isLeading, b.leaders]).toEqual([true, false, ['a']]);
  expect(spec(api)).toMatchObject({
    holderIdentity: 'a',
    leaseDurationSeconds: 15,
    acquireTime: '2026-01-01T00:00:00.000000Z',
    renewTime: '2026-01-01T00:01:00.000000Z',
    leaseTransitions: 0,
  });
  expect(registry.expose()).toContain('leader_election_master_status{name="test"} 1\n');
  b.stop.abort();
  a.stop.abort();
  await Promise.all([a.done, b.done]);
  expect([a.end, b.end, registry.expose().includes('master_status{name="test"} 0')]).toEqual([
    'stopped',
    'stopped',
    true,
  ]);
});

test('a leader that stops gives the lease up, and the next does not wait it out', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  const b = stand(api, 'b');
  await api.advance(3_000, 500);
  a.stop.abort();
  await a.done;
  expect(spec(api)).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1 });
  await api.advance(5_000, 500);
  expect([b.isLeading, b.leadership?.transitions]).toEqual([true, 1]);
  b.stop.abort();
  await b.done;
  expect(api.clock.pendingCount).toBe(0);
});

test('a waiting candidate acquires a released lease within half a retry period', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  const b = stand(api, 'b');
  await api.advance(3_000, 100);
  a.stop.abort();
  await a.done;
  await api.advance(1_000, 100);
  expect(b.isLeading).toBe(true);
  b.stop.abort();
  await b.done;
});

test('a leader cut off ends before another can win, and its client sends nothing more', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  const b = stand(api, 'b');
  await api.advance(4_000, 500);
  const isolated = api.intercept(({ userAgent }) => {
    if (userAgent === 'a')
      throw new TransportError('ConnectionRefused', 'cut off', { maybeProcessed: false });
  });
  let endedMs: number | undefined;
  a.leadership!.signal.addEventListener('abort', () => (endedMs = api.clock.monotonicMs()));
  let wonMs: number | undefined;
  for (let i = 0; i < 80 && wonMs === undefined; i += 1) {
    await api.advance(250);
    if (b.isLeading) wonMs = api.clock.monotonicMs();
  }
  await a.done;
  expect(a.end).toBe('lost');
  // The last renewal was sent at 4 s.
  expect(endedMs).toBe(14_000);
  expect(wonMs).toBeGreaterThanOrEqual(19_000);
  isolated.dispose();
  api.forgetRequests();
  const write = a.leadership!.client.resource(CONFIG_MAP, 'default').create({ metadata: { name: 'x' } });
  await expect(write).rejects.toSatisfy(isFenced);
  expect(api.writes()).toEqual([]);
  b.stop.abort();
  await b.done;
});

test('a process that was frozen refuses to write before its timers have run', async () => {
  const api = new FakeApi();
  let nowMs = 0;
  const clock = { ...api.clock, monotonicMs: () => api.clock.monotonicMs() + nowMs };
  const a = stand(api, 'a', { clock });
  await api.settle();
  nowMs = 10_000;
  const { client, fence } = a.leadership!;
  for (const one of [client, fence(api.client('of another identity'))]) {
    const write = one.resource(CONFIG_MAP, 'default').create({ metadata: { name: 'x' } });
    await expect(write).rejects.toSatisfy(isFenced);
  }
  await a.done;
  expect([a.end, api.list(CONFIG_MAP)]).toEqual(['lost', []]);
});

test('a leader whose lease was taken by hand steps down immediately', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  api.edit(LEASE, 'test', (lease) => (lease.spec!.holderIdentity = 'thief'), 'kube-system');
  await api.advance(2_000);
  await a.done;
  expect([a.end, a.leaders]).toEqual(['lost', ['a', 'thief']]);
});

test('work that ends gives the lease up, and its failure is not swallowed', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a', { lead: () => Promise.resolve() });
  await a.done;
  expect([a.end, spec(api)?.holderIdentity]).toEqual(['finished', '']);
  const b = stand(api, 'b', { lead: () => Promise.reject(new Error('broken')) });
  b.done.catch(() => undefined);
  await api.advance(5_000, 1_000);
  await expect(b.done).rejects.toThrow('broken');
  expect(spec(api)?.holderIdentity).toBe('');
});

/** A change of the leader that the server holds until `answer`. */
const changeUnderWay = async (api: FakeApi, leadership: Leadership, signal?: AbortSignal) => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  api.intercept(({ type }) => (type.plural === CONFIG_MAP.plural ? answered : undefined));
  const outcome = leadership.client
    .resource(CONFIG_MAP, 'default')
    .create({ metadata: { name: 'x' } }, { ...(signal && { signal }) })
    .then(
      () => 'done',
      (error: unknown) => (isFenced(error) ? 'fenced' : String(error)),
    );
  await api.settle();
  return { answer, outcome };
};

test('a leader that stops keeps its lease until what it has sent is answered', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  const b = stand(api, 'b');
  const { answer, outcome } = await changeUnderWay(api, a.leadership!);
  const { client } = a.leadership!;
  const list = client
    .resource(CONFIG_MAP, 'default')
    .list()
    .catch((error: unknown) => error);
  await api.settle();
  a.stop.abort();
  await expect(list).resolves.toSatisfy(isFenced);
  const later = client.resource(CONFIG_MAP, 'default').create({ metadata: { name: 'y' } });
  await expect(later).rejects.toSatisfy(isFenced);
  await api.advance(4_000, 500);
  expect([spec(api)?.holderIdentity, b.isLeading, a.end]).toEqual(['a', false, undefined]);
  answer();
  await a.done;
  expect([await outcome, a.end, spec(api)?.holderIdentity]).toEqual(['done', 'stopped', '']);
  await api.advance(1_000, 500);
  expect(b.isLeading).toBe(true);
  b.stop.abort();
  await b.done;
  expect(api.clock.pendingCount).toBe(0);
});

test('a change that its sender has given up is awaited all the same', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  const impatient = new AbortController();
  const { answer, outcome } = await changeUnderWay(api, a.leadership!, impatient.signal);
  impatient.abort(new Error('no time'));
  expect(await outcome).toBe('Error: no time');
  a.stop.abort();
  await api.advance(1_000, 500);
  expect(spec(api)?.holderIdentity).toBe('a');
  answer();
  await a.done;
  expect(spec(api)?.holderIdentity).toBe('');
  expect(api.clock.pendingCount).toBe(0);
});

test('a lease is left to expire when a change is never answered', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  const b = stand(api, 'b');
  // Half of the time to renew has gone by, so that less is left than winding up may take.
  const silent = api.intercept(({ userAgent }) => {
    if (userAgent === 'a') return new Promise<void>(() => undefined);
  });
  await api.advance(6_000, 500);
  const { outcome } = await changeUnderWay(api, a.leadership!);
  a.stop.abort();
  await api.advance(3_500, 500);
  expect(a.end).toBeUndefined();
  await api.advance(500);
  await a.done;
  expect([await outcome, a.end, spec(api)?.holderIdentity]).toEqual(['fenced', 'stopped', 'a']);
  silent.dispose();
  await api.advance(4_500, 500);
  expect(b.isLeading).toBe(false);
  await api.advance(3_000, 500);
  expect(b.isLeading).toBe(true);
  b.stop.abort();
  await b.done;
});

test('a leader that lost its lease awaits nothing', async () => {
  const api = new FakeApi();
  const a = stand(api, 'a');
  await api.settle();
  const { outcome } = await changeUnderWay(api, a.leadership!);
  api.edit(LEASE, 'test', (lease) => (lease.spec!.holderIdentity = 'thief'), 'kube-system');
  await api.advance(2_000);
  await a.done;
  expect([await outcome, a.end]).toEqual(['fenced', 'lost']);
});

test('through lost requests, lost answers and delays there is never more than one leader', async () => {
  const run = async (seed: number): Promise<void> => {
    const random = seededRandom(seed);
    const api = new FakeApi({ random: seededRandom(seed + 1) });
    const trouble = new Map<string, 'flaky' | 'cut'>();
    api.intercept(async ({ userAgent }) => {
      if (!trouble.has(userAgent)) return;
      const dice = trouble.get(userAgent) === 'cut' ? 0 : random.below(4);
      if (dice === 0) throw new TransportError('ConnectionRefused', 'refused', { maybeProcessed: false });
      if (dice === 1) throw internalError('x');
      // Arrives late: the sender may have given up, and the server does it all the same.
      if (dice === 2) await new Promise<void>((done) => api.clock.after(random.below(12_000), done));
    });
    const names = ['a', 'b', 'c'];
    const candidates = new Map(names.map((name) => [name, stand(api, name)]));
    let led = 0;
    for (let i = 0; i < 200; i += 1) {
      const name = names[random.below(3)]!;
      if (random.below(6) === 0) {
        if (trouble.has(name)) trouble.delete(name);
        else trouble.set(name, random.below(2) === 0 ? 'cut' : 'flaky');
      }
      if (candidates.get(name)!.end !== undefined) candidates.set(name, stand(api, name));
      if (random.below(15) === 0) candidates.get(name)!.stop.abort();
      await api.advance(500 + random.below(2_500), 500);
      const leading = [...candidates].filter(([, { isLeading }]) => isLeading).map(([leader]) => leader);
      expect(leading.length, leading.join()).toBeLessThanOrEqual(1);
      led += leading.length;
    }
    expect(led).toBeGreaterThan(20);
    trouble.clear();
    for (const { stop } of candidates.values()) stop.abort();
    await api.advance(60_000, 1_000);
    await Promise.all([...candidates.values()].map(({ done }) => done));
  };
  await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 1_000_000 }), run), { numRuns: 10 });
}, 60_000);
