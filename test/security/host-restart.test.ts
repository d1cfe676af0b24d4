import { afterAll, beforeAll, expect, test } from 'vitest';
import { EVENT, type OwnedClient } from '../../core/client/index.ts';
import type { HostState } from '../../core/cluster/state/cluster-state.ts';
import { operate, type OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';

/** Hosts are ended here, so it is a cluster of its own: small, and one that is left without its API for a moment. */
let cluster: OperatedCluster;
let client: OwnedClient;

beforeAll(async () => {
  cluster = await operate('--control-planes', '1', '--workers', '1');
  client = await cluster.client();
});
afterAll(() => cluster.close());

const hostOf = async (name: string): Promise<HostState> =>
  (await cluster.state()).hosts.find((host) => host.name === name)!;

const eventsOn = async (node: string): Promise<readonly string[]> => {
  const { items } = await client.resource(EVENT, 'default').list();
  return items
    .filter(({ involvedObject, reason }) => involvedObject.name === node && reason?.startsWith('Host'))
    .map(({ reason, message }) => `${reason}: ${message}`);
};

test.each([
  ['workers', 'worker-1'],
  ['cp-1', 'cp-1'],
])('host %s comes back when its process is killed from outside, and says so', async (name, node) => {
  const before = await hostOf(name);
  process.kill(before.pid!, 'SIGKILL');
  await until('another process', async () => {
    const { pid, phase } = await hostOf(name);
    return phase === 'running' && pid !== before.pid;
  });
  await cluster.untilWell();
  expect(await hostOf(name)).toMatchObject({
    restarts: 1,
    lastExit: { reason: { code: 'exit.signal', values: { signal: 'SIGKILL' } }, isGivenUp: false },
  });
  await until('the event', async () => (await eventsOn(node)).length > 0);
  expect(await eventsOn(node)).toEqual([
    `HostExited: Host ${name} exited unexpectedly: terminated by SIGKILL; restarting in 1 s (1 of 5)`,
  ]);
  expect(await cluster.run('status')).toMatch(
    new RegExp(`^${name} +running .* restarted 1x \\(last exit: terminated by SIGKILL\\)$`, 'm'),
  );
});

test('a host that a person kills stays down until a person starts it', async () => {
  await cluster.run('host', 'kill', 'workers');
  expect(await hostOf('workers')).toMatchObject({ phase: 'killed', restarts: 1 });
  await cluster.run('host', 'start', 'workers');
  await cluster.untilWell();
  expect((await hostOf('workers')).restarts).toBe(1);
});

test('a component that ends is started again by its kubelet', async () => {
  await cluster.run('host', 'kill', 'cp-1', 'kube-scheduler');
  await until('the scheduler', async () => {
    const scheduler = (await hostOf('cp-1')).components.find(({ name }) => name === 'kube-scheduler');
    return scheduler?.phase === 'ready' && scheduler.restarts === 1;
  });
});
