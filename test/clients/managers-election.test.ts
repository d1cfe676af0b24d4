import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DEPLOYMENT, LEASE, POD, SERVICE_ACCOUNT, type Client } from '../../core/client/index.ts';
import { actsOf, actsOutOfTurn, tookEffect, watchTenures, type Tenure } from '../support/acting.ts';
import { startManagedCluster, type ManagedCluster } from '../support/managed-cluster.ts';
import type { ManagerName, ManagerReplica, Managers } from '../support/managers.ts';
import { forwardTcp, type TcpForwarder } from '../support/tcp-forwarder.ts';
import { until } from '../support/until.ts';

const NAMES: readonly ManagerName[] = ['kube-scheduler', 'kube-controller-manager'];
const REPLICAS = [0, 1, 2];
/**
 * Between the end of a leader and the end of its lease are 12 seconds: so long may a busy API server take to read what
 * a leader had sent before it lost its lease.
 */
const LEASE_MS = 20_000;
const FLAGS = [
  '--leader-elect-lease-duration=20s',
  '--leader-elect-renew-deadline=8s',
  '--leader-elect-retry-period=2s',
];
const ROUNDS = 2;
const PODS_EACH = 2;
const DEPLOYMENT_PERIOD_MS = 600;
/** What the nodes have room for. */
const DEPLOYMENTS_MAX = 450;

const QUIET_MS = 1_000;
const RESTART_PERIOD_MS = 500;
/** A lease that runs out, and whatever a busy machine adds. */
const WAIT_MS_MAX = 150_000;
vi.setConfig({ testTimeout: 2 * WAIT_MS_MAX, hookTimeout: 2 * WAIT_MS_MAX });

const sleep = (durationMs: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, durationMs));

let cluster: ManagedCluster;
let managers: Managers;
let client: Client;
const tenures = new Map<ManagerName, readonly Tenure[]>();
/** One to each API server; a replica speaks through that of its number. */
const wires: TcpForwarder[] = [];
const watches: { stop(): void }[] = [];
/** Identities of those that were asked to end. */
const dismissed = new Set<string>();
let deployments = 0;
let isBusy = true;
let isPaused = false;
let isOver = false;
let kept: Promise<void> | undefined;
let busy: Promise<void> | undefined;

const masterOf = (index: number): string => {
  const { hostname } = new URL(managers.plane.apiServers[index]!.url);
  return `https://${hostname}:${wires[index]!.port}`;
};

const start = (name: ManagerName, index: number): ManagerReplica =>
  managers.start({ name, index, master: masterOf(index), flags: FLAGS });

const createDeployment = async (): Promise<string> => {
  const app = `d${(deployments += 1)}`;
  const labels = { app };
  await client.resource(DEPLOYMENT, 'default').create({
    metadata: { name: app },
    spec: {
      replicas: PODS_EACH,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
    },
  });
  return app;
};

/** Work for both managers all the time, so that who may not act would be seen to. */
const keepBusy = async (): Promise<void> => {
  while (isBusy && deployments < DEPLOYMENTS_MAX) {
    if (!isPaused) await createDeployment();
    await sleep(DEPLOYMENT_PERIOD_MS);
  }
};

const allRun = (): Promise<true> =>
  until(
    'all replicas',
    async () => {
      const { items } = await client.resource(DEPLOYMENT, 'default').list();
      return items.every(({ status }) => status?.availableReplicas === PODS_EACH);
    },
    WAIT_MS_MAX,
  );

/** Nothing is left to be done, and no one has asked for anything for a while. */
const whenQuiet = async (): Promise<void> => {
  await allRun();
  await until(
    'a quiet moment',
    async () => {
      await sleep(QUIET_MS);
      const acts = (await Promise.all(NAMES.map((name) => actsOf(managers, name)))).flat();
      return acts.every(({ atMs }) => atMs < Date.now() - QUIET_MS);
    },
    WAIT_MS_MAX,
  );
};

/** What is asked for from here on is done, so both managers lead in deed. */
const workIsDone = async (): Promise<void> => {
  const app = await createDeployment();
  await until(
    `the pods of ${app}`,
    async () => {
      const { items } = await client.resource(POD, 'default').list({ labelSelector: `app=${app}` });
      return items.length === PODS_EACH && items.every(({ spec }) => spec?.nodeName !== undefined);
    },
    WAIT_MS_MAX,
  );
};

const leaseOf = async (name: ManagerName) => (await client.resource(LEASE, 'kube-system').get(name)).spec!;

const whenLed = (name: ManagerName, by: (leader: ManagerReplica) => boolean = () => true) =>
  until(
    `a leader of ${name}`,
    async () => {
      const leader = await managers.leader(name);
      return leader && by(leader) ? leader : undefined;
    },
    WAIT_MS_MAX,
  );

/** The leader is ended as told; when who follows has the lease, the times of both. */
const succeed = async (name: ManagerName, end: (leader: ManagerReplica) => Promise<void>) => {
  const leader = await whenLed(name);
  const { leaseTransitions } = await leaseOf(name);
  const endedMs = Date.now();
  await end(leader);
  const renewedMs = Date.parse((await leaseOf(name)).renewTime!);
  const next = await whenLed(name, (replica) => replica !== leader);
  const lease = await leaseOf(name);
  await workIsDone();
  return {
    leader,
    next,
    transitions: lease.leaseTransitions! - leaseTransitions!,
    handOverMs: Date.parse(lease.acquireTime!) - endedMs,
    silentMs: Date.parse(lease.acquireTime!) - renewedMs,
  };
};

/** Both managers at the same time, as when a machine ends. */
const bothSucceed = (end: (leader: ManagerReplica) => Promise<void>) =>
  Promise.all(NAMES.map((name) => succeed(name, end)));

/** As a kubelet: who has ended is started again, also who lost its lease because the machine was busy. */
const keepReplicas = async (): Promise<void> => {
  while (!isOver) {
    for (const name of NAMES)
      for (const index of REPLICAS)
        if (!managers.running(name).some((replica) => replica.index === index)) start(name, index);
    await sleep(RESTART_PERIOD_MS);
  }
};

beforeAll(async () => {
  cluster = await startManagedCluster({ octet: 103, apiServers: 3, nodes: 4, podsPerNode: 250 });
  ({ managers } = cluster);
  client = managers.client();
  for (const { url } of managers.plane.apiServers) {
    const { hostname, port } = new URL(url);
    wires.push(await forwardTcp(hostname, Number(port), hostname));
  }
  for (const name of NAMES) {
    const watch = await watchTenures(client, name);
    watches.push(watch);
    tenures.set(name, watch.tenures);
  }
  kept = keepReplicas();
  await until('the account of the namespace', () =>
    client.resource(SERVICE_ACCOUNT, 'default').find('default'),
  );
  await workIsDone();
  busy = keepBusy();
});

afterAll(async () => {
  isBusy = false;
  isOver = true;
  await busy?.catch(() => undefined);
  await kept;
  for (const watch of watches) watch.stop();
  await cluster?.close();
  for (const wire of wires) wire.close();
});

test('managers that are asked to end hand over immediately', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const ended = await bothSucceed(async (leader) => {
      dismissed.add(leader.identity()!);
      await leader.kill('SIGTERM');
    });
    for (const { leader, handOverMs } of ended) {
      // No one waited the lease out, and the end of a leadership is no trouble to tell of.
      expect(handOverMs).toBeLessThan(LEASE_MS);
      expect(leader.log()).not.toContain('no longer leader');
    }
  }
});

test('managers that are killed are followed when their lease is over, and not before', async () => {
  for (const { silentMs, transitions } of await bothSucceed((leader) => leader.kill('SIGKILL'))) {
    expect(silentMs).toBeGreaterThan(LEASE_MS - 50);
    expect(transitions).toBeGreaterThanOrEqual(1);
  }
});

test('managers that were frozen beyond their lease wake up and end', async () => {
  // What is on its way out when a process is frozen leaves when it wakes, and no fence can hold it: so nothing is. What
  // is asked for meanwhile is there for the sleepers to see.
  isPaused = true;
  await whenQuiet();
  let awake = NAMES.length;
  const frozen = await bothSucceed((leader) => {
    leader.signal('SIGSTOP');
    awake -= 1;
    isPaused = awake > 0;
    return Promise.resolve();
  });
  for (const { leader } of frozen) {
    leader.signal('SIGCONT');
    await until('the end of who was frozen', () => leader.process.exitCode !== null);
    expect(leader.process.exitCode).not.toBe(0);
    await until('its last words', () => leader.log().includes('lost its lease'));
  }
  await workIsDone();
});

test('managers behind a cut network end before others act', async () => {
  const cutOff = await bothSucceed((leader) => Promise.resolve(wires[leader.index]!.silence()));
  for (const { leader } of cutOff) {
    await until('the end of who was cut off', () => leader.process.exitCode !== null);
    await until('its last words', () => leader.log().includes('lost its lease'));
  }
  for (const wire of wires) wire.heal();
  await workIsDone();
});

test('only the lease holder changed anything, and every pod was created and bound once', async () => {
  isBusy = false;
  await busy;
  await allRun();
  for (const name of NAMES) {
    const acts = await actsOf(managers, name);
    const indexOf = (identity: string): number | undefined =>
      managers.replicas.find((replica) => replica.identity() === identity)?.index;
    expect(acts.length).toBeGreaterThan(deployments);
    expect(tenures.get(name)!.length).toBeGreaterThanOrEqual(5);
    const outOfTurn = actsOutOfTurn(acts, tenures.get(name)!, indexOf);
    expect(outOfTurn.filter(tookEffect)).toEqual([]);
    // Who ends in good order has not even asked; what a killed one had sent may be read, and refused, at any time.
    expect(outOfTurn.filter(({ identity }) => identity === undefined || dismissed.has(identity))).toEqual([]);
  }
  const bound = (await actsOf(managers, 'kube-scheduler')).filter(
    ({ path, code }) => path.endsWith('/binding') && code === 201,
  );
  const pods = (await client.resource(POD, 'default').list()).items;
  expect(pods.length).toBe(deployments * PODS_EACH);
  expect(pods.filter(({ spec }) => spec?.nodeName === undefined)).toEqual([]);
  // Who is killed between its request and the answer leaves no record of one that was accepted.
  expect(bound.length).toBeGreaterThan(pods.length / 2);
  expect(new Set(bound.map(({ path }) => path)).size).toBe(bound.length);
});
