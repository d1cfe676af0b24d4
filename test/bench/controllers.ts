import type { Client } from '../../core/client/index.ts';
import { DEPLOYMENT, POD, SERVICE_ACCOUNT } from '../../core/client/index.ts';
import { startManagedCluster } from '../support/managed-cluster.ts';
import { usageOf } from '../support/process-usage.ts';
import { until } from '../support/until.ts';

/**
 * Deployments made, rolled to another image and deleted by our controller-manager and scheduler at one API server, with
 * simulated kubelets in this process. The CPU time of each process is told beside the wall clock, which on a busy
 * machine says little.
 */
const DEPLOYMENTS = 200;
const PODS_EACH = 25;
const QUICK_DEPLOYMENTS = 20;
const NODES = 40;
const PODS_PER_NODE = 250;
const LIMIT_MS = 900_000;
/** What the last phase left over, events and late statuses, is not rest. */
const SETTLE_MS = 15_000;
const REST_MS = 20_000;

interface Watched {
  readonly name: string;
  readonly pid: number;
}

const createDeployment = async (client: Client, n: number): Promise<void> => {
  const labels = { app: `app-${n}` };
  await client.resource(DEPLOYMENT, 'default').create({
    metadata: { name: labels.app },
    spec: {
      replicas: PODS_EACH,
      selector: { matchLabels: labels },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: '25%', maxUnavailable: '25%' } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'c:1' }] } },
    },
  });
};

export const run = async (args: readonly string[]): Promise<void> => {
  const deployments = args.includes('--quick') ? QUICK_DEPLOYMENTS : DEPLOYMENTS;
  const pods = deployments * PODS_EACH;
  const cluster = await startManagedCluster({ octet: 107, nodes: NODES, podsPerNode: PODS_PER_NODE });
  try {
    const { managers } = cluster;
    const client = managers.client();
    const watched: Watched[] = [
      { name: 'controller-manager', pid: managers.start({ name: 'kube-controller-manager' }).process.pid! },
      { name: 'scheduler', pid: managers.start({ name: 'kube-scheduler' }).process.pid! },
      { name: 'API server', pid: managers.plane.apiServers[0]!.process.pid! },
      { name: 'etcd', pid: managers.plane.etcd.members[0]!.process.pid! },
    ];
    await until('the account of the namespace', () =>
      client.resource(SERVICE_ACCOUNT, 'default').find('default'),
    );
    const phase = async (name: string, objects: number, work: () => Promise<unknown>): Promise<void> => {
      const before = watched.map(({ pid }) => usageOf(pid));
      const from = performance.now();
      await work();
      const seconds = (performance.now() - from) / 1000;
      const costs = watched.map((one, index) => {
        const { cpuSeconds, rssMib } = usageOf(one.pid);
        const spent = cpuSeconds - before[index]!.cpuSeconds;
        return `${one.name} ${spent.toFixed(1)} s (${((100 * spent) / seconds).toFixed(1)} %, ${rssMib.toFixed(0)} MiB)`;
      });
      const rate = objects === 0 ? '' : `${(objects / seconds).toFixed(0)} pods/s`;
      console.log(
        `${name.padEnd(10)} ${seconds.toFixed(1).padStart(6)} s  ${rate.padStart(12)}  ${costs.join(', ')}`,
      );
    };
    const all = Array.from({ length: deployments }, (_, n) => n);
    const available = (image: string) =>
      until(
        `${pods} pods of ${image}`,
        async () => {
          const { items } = await client.resource(DEPLOYMENT, 'default').list();
          await new Promise((resolve) => setTimeout(resolve, 500));
          return items.every(
            ({ status, metadata }) =>
              status?.observedGeneration === metadata.generation &&
              status?.updatedReplicas === PODS_EACH &&
              status.replicas === PODS_EACH &&
              status.availableReplicas === PODS_EACH,
          );
        },
        LIMIT_MS,
      );
    console.log(`${deployments} deployments of ${PODS_EACH} pods, ${NODES} simulated nodes, one API server`);
    await phase('create', pods, async () => {
      await Promise.all(all.map((n) => createDeployment(client, n)));
      await available('c:1');
    });
    await phase('roll', pods, async () => {
      const body = { spec: { template: { spec: { containers: [{ name: 'c', image: 'c:2' }] } } } };
      await Promise.all(
        all.map((n) => client.resource(DEPLOYMENT, 'default').patch(`app-${n}`, { type: 'strategic', body })),
      );
      await available('c:2');
    });
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    await phase('rest', 0, () => new Promise((resolve) => setTimeout(resolve, REST_MS)));
    await phase('delete', pods, async () => {
      await client.resource(DEPLOYMENT, 'default').deleteCollection({}, { propagationPolicy: 'Background' });
      await until(
        'no pods',
        async () => {
          await new Promise((resolve) => setTimeout(resolve, 500));
          return (await client.resource(POD, 'default').list({ limit: 1 })).items.length === 0;
        },
        LIMIT_MS,
      );
    });
  } finally {
    await cluster.close();
  }
};
