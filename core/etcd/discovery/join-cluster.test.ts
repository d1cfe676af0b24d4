import { expect, test } from 'vitest';
import { manualClock, type ManualClock } from '../../base/manual-clock.ts';
import { ReasonError } from '../../base/errors.ts';
import { silentLog } from '../../base/log.ts';
import { joinCluster, type DiscoveryStore, type Registered } from './join-cluster.ts';

/** A discovery service in memory, which may refuse to answer a few times. */
class MemoryStore implements DiscoveryStore {
  readonly rows = new Map<string, Registered>();
  size: string | undefined;
  failures = 0;

  constructor(size: string | undefined) {
    this.size = size;
  }

  async get(): Promise<string | undefined> {
    this.#maybeFail();
    return Promise.resolve(this.size);
  }

  async list(): Promise<readonly Registered[]> {
    this.#maybeFail();
    return Promise.resolve([...this.rows.values()].reverse());
  }

  async put(key: string, value: string): Promise<void> {
    this.rows.set(key, this.rows.get(key) ?? { key, value, createRevision: this.rows.size + 1 });
    return Promise.resolve();
  }

  #maybeFail(): void {
    if (this.failures === 0) return;
    this.failures -= 1;
    throw new ReasonError('Unreachable', 'connection refused');
  }
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
};

const join = (store: DiscoveryStore, clock: ManualClock, n: number): Promise<string> =>
  joinCluster({
    store,
    clock,
    log: silentLog,
    token: 't',
    id: `${n}`,
    self: `m${n}=http://127.0.0.${n}:2380`,
  });

test('every member gets the same cluster once the last has registered', async () => {
  const store = new MemoryStore('3');
  const clock = manualClock();
  const joined: Promise<string>[] = [];
  for (const n of [2, 1, 3]) {
    joined.push(join(store, clock, n));
    await settle();
  }
  clock.advance(1000);
  const cluster = 'm2=http://127.0.0.2:2380,m1=http://127.0.0.1:2380,m3=http://127.0.0.3:2380';
  expect(await Promise.all(joined)).toEqual([cluster, cluster, cluster]);
});

test('a late member gets an error that the cluster is full, a returning member does not', async () => {
  const store = new MemoryStore('1');
  const clock = manualClock();
  const first = await join(store, clock, 1);
  await expect(join(store, clock, 2)).rejects.toThrow('discovery: cluster is full');
  expect(await join(store, clock, 1)).toBe(first);
});

test.each([
  [undefined, 'discovery: size key not found'],
  ['many', 'discovery: size key is bad'],
  ['0', 'discovery: size key is bad'],
])('a size of %j fails', async (size, message) => {
  await expect(join(new MemoryStore(size), manualClock(), 1)).rejects.toThrow(message);
});

test('a service that does not answer is asked again', async () => {
  const store = new MemoryStore('1');
  store.failures = 2;
  const clock = manualClock();
  const joined = join(store, clock, 1);
  for (const backoffMs of [1000, 2000]) {
    await settle();
    clock.advance(backoffMs);
  }
  expect(await joined).toBe('m1=http://127.0.0.1:2380');
});

test('a service that refuses is not asked again', async () => {
  const store = new MemoryStore('1');
  store.put = () => Promise.reject(new ReasonError('Refused', 'discovery: permission denied'));
  await expect(join(store, manualClock(), 1)).rejects.toThrow('permission denied');
});
