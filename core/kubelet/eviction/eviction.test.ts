import { expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import type { V1Container, V1Pod } from '../../api/schema/index.ts';
import { isTakenUnder } from './admission.ts';
import { EvictionManager } from './eviction-manager.ts';
import {
  PRESSURE_CHECK_MS,
  PRESSURE_TRANSITION_MS,
  type Observed,
  type PodNeed,
  type Signal,
} from './pressure.ts';

const MIB = 2 ** 20;

interface Running {
  readonly name: string;
  readonly memoryMib?: number;
  readonly diskMib?: number;
  readonly emptyDirMib?: number;
  readonly priority?: number;
  readonly resources?: V1Container['resources'];
  readonly sizeLimit?: string;
}

const podOf = ({ name, priority, resources, sizeLimit }: Running): V1Pod => ({
  metadata: { name, uid: name, namespace: 'default' },
  spec: {
    ...(priority !== undefined && { priority }),
    containers: [{ name: 'app', image: 'x', ...(resources && { resources }) }],
    volumes: [{ name: 'v', emptyDir: sizeLimit === undefined ? {} : { sizeLimit } }],
  },
});

const needOf = ({ memoryMib = 0, diskMib = 0, emptyDirMib = 0 }: Running): PodNeed => ({
  containers: [{ name: 'app', memoryBytes: memoryMib * MIB, diskBytes: diskMib * MIB }],
  emptyDirs: new Map([['v', emptyDirMib * MIB]]),
});

/** A node with these pods; each eviction gives back what `freed` says. */
const start = (running: readonly Running[], freedByImagesMib = 0) => {
  const clock = manualClock();
  const observed = new Map<Signal, Observed>([
    ['memory.available', { available: 1_000 * MIB, capacity: 2_000 * MIB }],
    ['nodefs.available', { available: 500 * MIB, capacity: 1_000 * MIB }],
  ]);
  const set = (signal: Signal, mib: number): void =>
    void observed.set(signal, { ...observed.get(signal)!, available: mib * MIB });
  const said: string[] = [];
  let left = [...running];
  const manager = new EvictionManager({
    source: {
      observe: () => Promise.resolve(observed),
      needs: () => Promise.resolve(new Map(left.map((one) => [one.name, needOf(one)]))),
      freeImages: () => {
        said.push('images are freed');
        const { available } = observed.get('nodefs.available')!;
        set('nodefs.available', available / MIB + freedByImagesMib);
        return Promise.resolve();
      },
    },
    clock,
    log: silentLog,
    pods: () =>
      left.map((one) => ({
        pod: podOf(one),
        evict: (message, isPressure) => {
          said.push(`${one.name}${isPressure ? '' : ' (its own fault)'}: ${message}`);
          left = left.filter(({ name }) => name !== one.name);
          return Promise.resolve();
        },
      })),
    event: (reason, message) => said.push(`${reason}: ${message}`),
    onPressure: () => said.push(`pressures: ${manager.pressures.join() || 'none'}`),
  });
  return { clock, manager, said, set };
};

test('a node with room evicts no one', async () => {
  const { manager, said } = start([{ name: 'a', memoryMib: 500, diskMib: 500 }]);
  expect([await manager.look(), said]).toEqual([false, []]);
});

test('while memory is short, one pod goes at a time: who exceeds its request, then the less important', async () => {
  const { manager, said, set } = start([
    { name: 'modest', memoryMib: 90, resources: { requests: { memory: '100Mi' } } },
    { name: 'important', memoryMib: 300, priority: 1_000 },
    { name: 'greedy', memoryMib: 200, resources: { requests: { memory: '64Mi' } } },
  ]);
  set('memory.available', 50);
  expect(await manager.look()).toBe(true);
  expect(await manager.look()).toBe(true);
  expect(await manager.look()).toBe(true);
  expect(said).toEqual([
    'pressures: MemoryPressure',
    'EvictionThresholdMet: Attempting to reclaim memory',
    'greedy: The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container app was using 200Mi, request is 64Mi, has larger consumption of memory. ',
    'EvictionThresholdMet: Attempting to reclaim memory',
    'important: The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container app was using 300Mi, request is 0, has larger consumption of memory. ',
    'EvictionThresholdMet: Attempting to reclaim memory',
    'modest: The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ',
  ]);
  expect(await manager.look()).toBe(false);
});

test('a full disk takes images first, and pods only where that is not enough', async () => {
  const enough = start([{ name: 'a', diskMib: 10 }], 100);
  enough.set('nodefs.available', 50);
  expect(await enough.manager.look()).toBe(false);
  expect(enough.said.at(-1)).toBe('images are freed');
  const short = start(
    [
      { name: 'a', diskMib: 10 },
      { name: 'b', emptyDirMib: 20 },
    ],
    10,
  );
  short.set('nodefs.available', 50);
  expect(await short.manager.look()).toBe(true);
  expect(short.said.slice(-2)).toEqual([
    'images are freed',
    'b: The node was low on resource: ephemeral-storage. Threshold quantity: 100Mi, available: 60Mi. ',
  ]);
});

test.each<[string, Running, string]>([
  [
    'a volume',
    { name: 'a', emptyDirMib: 2, sizeLimit: '1Mi' },
    'Usage of EmptyDir volume "v" exceeds the limit "1Mi". ',
  ],
  [
    'a container',
    { name: 'a', diskMib: 3, resources: { limits: { 'ephemeral-storage': '2Mi' } } },
    'Pod ephemeral local storage usage exceeds the total limit of containers 2Mi. ',
  ],
])('%s that exceeds its limit costs the pod, whatever room there is', async (_, running, message) => {
  const { manager, said } = start([running, { name: 'b', emptyDirMib: 500 }]);
  expect(await manager.look()).toBe(true);
  expect(said).toEqual([`a (its own fault): ${message}`]);
  expect(await manager.look()).toBe(false);
});

test('pressure is reported for as long as it may come back, and found without being asked for', async () => {
  const { clock, manager, said, set } = start([]);
  manager.start();
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    await new Promise((resolve) => setImmediate(resolve));
  };
  set('nodefs.available', 50);
  await pass(PRESSURE_CHECK_MS);
  expect(manager.pressures).toEqual(['DiskPressure']);
  set('nodefs.available', 500);
  await pass(PRESSURE_CHECK_MS);
  expect(manager.pressures).toEqual(['DiskPressure']);
  await pass(PRESSURE_TRANSITION_MS);
  expect([manager.pressures, said.at(-1)]).toEqual([[], 'pressures: none']);
  manager.dispose();
});

test('a node under pressure takes pods that do not make it worse, and those that keep it alive', () => {
  const pod = (qosClass: string, more: V1Pod['spec'] = { containers: [] }): V1Pod => ({
    spec: more,
    status: { qosClass },
  });
  const toleration = [{ key: 'node.kubernetes.io/memory-pressure', operator: 'Exists' }];
  expect([
    isTakenUnder([], pod('BestEffort')),
    isTakenUnder(['MemoryPressure'], pod('BestEffort')),
    isTakenUnder(['MemoryPressure'], pod('Burstable')),
    isTakenUnder(['MemoryPressure'], pod('BestEffort', { containers: [], tolerations: toleration })),
    isTakenUnder(['DiskPressure'], pod('Guaranteed')),
    isTakenUnder(['DiskPressure'], pod('BestEffort', { containers: [], priority: 2_000_000_000 })),
  ]).toEqual([true, false, true, true, false, true]);
});
