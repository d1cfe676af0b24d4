import { NODE, POD, SERVICE_ACCOUNT, type Client } from '../../../core/client/index.ts';
import { watchPods } from '../../support/bindings.ts';
import { startManagedCluster } from '../../support/managed-cluster.ts';
import { usageOf } from '../../support/process-usage.ts';
import { until } from '../../support/until.ts';

/**
 * Pods that are created at one API server and bound by our scheduler, both processes of their own, on nodes that no one
 * runs. The pods are there before the scheduler is, so that it alone sets the pace.
 */
const NODE_COUNTS = [100, 1000];
const PODS = 2000;
const QUICK_PODS = 500;
const LANES = 32;
const LIMIT_MS = 300_000;
const FIRST_OCTET = 108;

const inLanes = async (count: number, work: (n: number) => Promise<unknown>): Promise<void> => {
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let n = lane; n < count; n += LANES) await work(n);
    }),
  );
};

const createNode = async (client: Client, name: string): Promise<void> => {
  const resources = { cpu: '64', memory: '256Gi', pods: '1000' };
  await client.resource(NODE).create({
    metadata: { name },
    status: { capacity: resources, allocatable: resources, conditions: [{ type: 'Ready', status: 'True' }] },
  });
  await client.resource(NODE).patch(name, { type: 'merge', body: { spec: { taints: null } } });
};

const measure = async (nodes: number, pods: number, octet: number): Promise<void> => {
  const cluster = await startManagedCluster({ octet });
  try {
    const { managers } = cluster;
    const client = managers.client();
    await client.resource(SERVICE_ACCOUNT, 'default').create({ metadata: { name: 'default' } });
    await inLanes(nodes, (n) => createNode(client, `node-${n}`));
    const requests = { cpu: '100m', memory: '50Mi' };
    await inLanes(pods, (n) =>
      client.resource(POD, 'default').create({
        metadata: { name: `pod-${n}` },
        spec: { containers: [{ name: 'c', image: 'c:1', resources: { requests } }] },
      }),
    );
    const history = await watchPods(client, 'default');
    let firstMs: number | undefined;
    history.onBound = () => (firstMs ??= performance.now());
    const server = managers.plane.apiServers[0]!.process.pid!;
    const before = usageOf(server).cpuSeconds;
    const scheduler = managers.start({ name: 'kube-scheduler' }).process.pid!;
    await until('all pods bound', () => history.bound >= pods, LIMIT_MS);
    const seconds = (performance.now() - firstMs!) / 1000;
    history.stop();
    const own = usageOf(scheduler);
    console.log(
      [
        'end to end'.padEnd(32),
        `${nodes} nodes`.padStart(11),
        `${(pods / seconds).toFixed(0)} pods/s`.padStart(15),
        `scheduler ${own.cpuSeconds.toFixed(1)} s CPU with its start, ${own.rssMib.toFixed(0)} MiB`,
        `API server ${(usageOf(server).cpuSeconds - before).toFixed(1)} s CPU`,
      ].join('  '),
    );
  } finally {
    await cluster.close();
  }
};

export const runEndToEnd = async (args: readonly string[]): Promise<void> => {
  const pods = args.includes('--quick') ? QUICK_PODS : PODS;
  console.log(`${pods} pods through a real API server, each bound by a request of its own`);
  for (const [index, nodes] of NODE_COUNTS.entries()) await measure(nodes, pods, FIRST_OCTET + index);
};
