import { afterEach, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { DEPLOYMENT, NODE, POD, REPLICA_SET, SERVICE_ACCOUNT, type Client } from '../../core/client/index.ts';
import { actsOf } from '../support/acting.ts';
import { watchPods, type PodHistory } from '../support/bindings.ts';
import { startManagedCluster, type ManagedCluster } from '../support/managed-cluster.ts';
import { until } from '../support/until.ts';

const SEED = Number(process.env['PILOTHOUSE_SEED'] ?? Date.now() % 1_000_000);
const PODS = 1_000;
const NODES = 10;
const SCHEDULER_KILLS = 4;
const SCHEDULERS = 3;
const DEPLOYMENTS = 100;
const PODS_EACH = 2;
const MANAGER_KILLS = Number(process.env['PILOTHOUSE_KILLS'] ?? 8);
const LIMIT_MS = 120_000;
const QUICK_ELECTION = [
  '--leader-elect-lease-duration=4s',
  '--leader-elect-renew-deadline=3s',
  '--leader-elect-retry-period=500ms',
];

let cluster: ManagedCluster;
let history: PodHistory | undefined;

afterEach(async () => {
  history?.stop();
  await cluster?.close();
});

const createNode = async (client: Client, name: string): Promise<void> => {
  const resources = { cpu: '64', memory: '256Gi', pods: String(PODS) };
  const created = await client.resource(NODE).create({ metadata: { name } });
  await client.resource(NODE).updateStatus({
    ...created,
    status: { capacity: resources, allocatable: resources, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  // What the lifecycle of nodes does, which does not run here.
  await client.resource(NODE).patch(name, { type: 'merge', body: { spec: { taints: null } } });
};

/** Ascending, all different, none at the very end. */
const randomPoints = (count: number, below: number): number[] => {
  const random = seededRandom(SEED);
  const points = new Set<number>();
  while (points.size < count) points.add(1 + random.below(below - 1));
  return [...points].sort((a, b) => a - b);
};

test('a thousand pods are bound once each while schedulers are killed', async () => {
  console.log(`seed ${SEED}`);
  cluster = await startManagedCluster({ octet: 111, apiServers: 1 });
  const { managers } = cluster;
  const client = managers.client();
  await client.resource(SERVICE_ACCOUNT, 'default').create({ metadata: { name: 'default' } });
  for (let n = 0; n < NODES; n += 1) await createNode(client, `node-${n}`);
  history = await watchPods(client, 'default');
  const start = () =>
    managers.start({ name: 'kube-scheduler', flags: [...QUICK_ELECTION, '--secure-port=0'] });
  for (let n = 0; n < SCHEDULERS; n += 1) start();
  const points = randomPoints(SCHEDULER_KILLS, PODS);
  let kills = 0;
  let killing = Promise.resolve();
  history.onBound = (count) => {
    if (points[0] === undefined || count < points[0]) return;
    points.shift();
    killing = killing.then(async () => {
      const leader = await managers.whenLed('kube-scheduler');
      await leader.kill('SIGKILL');
      kills += 1;
      start();
    });
  };
  const create = async (n: number): Promise<void> => {
    await client.resource(POD, 'default').create({
      metadata: { name: `pod-${n}` },
      spec: {
        containers: [{ name: 'c', image: 'c:1', resources: { requests: { cpu: '10m', memory: '10Mi' } } }],
      },
    });
  };
  const lanes = Array.from({ length: 20 }, (_, lane) => lane);
  await Promise.all(
    lanes.map(async (lane) => {
      for (let n = lane; n < PODS; n += lanes.length) await create(n);
    }),
  );
  await until('all pods bound', () => history!.bound >= PODS, LIMIT_MS);
  await killing;
  expect(kills).toBe(SCHEDULER_KILLS);
  const pods = (await client.resource(POD, 'default').list()).items;
  expect(pods.filter(({ spec }) => spec?.nodeName === undefined)).toEqual([]);
  expect([...history.nodes.values()].filter((nodes) => nodes.length !== 1)).toEqual([]);
  const bindings = (await actsOf(managers, 'kube-scheduler')).filter(
    ({ path, code }) => path.endsWith('/binding') && code === 201,
  );
  // A scheduler killed between its request and the answer leaves no record of one that was accepted.
  expect(bindings.length).toBeGreaterThan(PODS / 2);
  expect(new Set(bindings.map(({ path }) => path)).size).toBe(bindings.length);
});

test('a controller-manager killed at random points of 100 rollouts does nothing twice', async () => {
  console.log(`seed ${SEED}`);
  cluster = await startManagedCluster({ octet: 105, nodes: 2, podsPerNode: 200 });
  const { managers } = cluster;
  const client = managers.client();
  managers.start({ name: 'kube-scheduler' });
  // Alone, and so without waiting for the lease of the one that was killed.
  const start = () =>
    managers.start({ name: 'kube-controller-manager', flags: ['--leader-elect=false', '--secure-port=0'] });
  let manager = start();
  await until('the account of the namespace', () =>
    client.resource(SERVICE_ACCOUNT, 'default').find('default'),
  );
  history = await watchPods(client, 'default');
  const points = randomPoints(MANAGER_KILLS, DEPLOYMENTS * PODS_EACH);
  let kills = 0;
  let killing = Promise.resolve();
  history.onCreated = (count) => {
    if (points[0] === undefined || count < points[0]) return;
    while (points[0] !== undefined && points[0] <= count) points.shift();
    kills += 1;
    killing = killing.then(async () => {
      await manager.kill('SIGKILL');
      manager = start();
    });
  };
  for (let n = 0; n < DEPLOYMENTS; n += 1) {
    const labels = { app: `app-${n}` };
    await client.resource(DEPLOYMENT, 'default').create({
      metadata: { name: labels.app },
      spec: {
        replicas: PODS_EACH,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
      },
    });
  }
  await until(
    'all deployments',
    async () => {
      const { items } = await client.resource(DEPLOYMENT, 'default').list();
      return (
        items.length === DEPLOYMENTS &&
        items.every(
          ({ status, metadata }) =>
            status?.availableReplicas === PODS_EACH && status.observedGeneration === metadata.generation,
        )
      );
    },
    LIMIT_MS,
  );
  await killing;
  expect(kills).toBeGreaterThan(0);
  expect((await client.resource(REPLICA_SET, 'default').list()).items.length).toBe(DEPLOYMENTS);
  // As many as were ever made: none was made too often and deleted again.
  expect(history.created).toBe(DEPLOYMENTS * PODS_EACH);
  expect((await client.resource(POD, 'default').list()).items.length).toBe(DEPLOYMENTS * PODS_EACH);
});
