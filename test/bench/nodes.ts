import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { InformerFactory, NODE, POD, type Client } from '../../core/client/index.ts';
import type { V1Container } from '../../core/api/schema/index.ts';
import { adminClient, up, type RunningCluster } from '../support/cluster.ts';
import { noContainers, startContainerd } from '../support/containerd.ts';
import { freeNetwork } from '../support/free-network.ts';
import { ownedFolder, removeWithMounts } from '../support/leftovers.ts';
import { bareContainers } from './cluster/bare-containers.ts';
import { treeUsage } from './cluster/processes.ts';
import { printLoad, printRow } from './cluster/report.ts';

/**
 * Simulated nodes and pods on them, from creation to Running. Pods are bound when they are created, as those that kwok is
 * measured with; `scheduled` leaves that to the scheduler, with upstream's limit of 50 requests a second.
 *
 * npm run bench -- nodes [nodes=1000] [pods=10000] [control-planes=1] [scheduled]
 * npm run bench -- nodes containers=100   real containers (root, containerd), against the same calls without a kubelet
 */
const DEFAULTS = { nodes: 1000, pods: 10_000, 'control-planes': 1, containers: 0 };
/** Of what the same sandboxes and containers take without a kubelet. */
const CONTAINERS_RATIO_GOAL = 1.3;
const CREATES_AT_ONCE = 64;
const REST_MS = 20_000;
const PODS_LIMIT_MS = 600_000;
/** kwok holds itself to ten thousand pods within a minute, 167 a second. */
const PODS_PER_SECOND_GOAL = 225;
/** Most of it is the leases of a thousand nodes: a hundred writes a second. */
const REST_PERCENT_GOAL = 25;

type Settings = typeof DEFAULTS;

const settingsOf = (args: readonly string[]): Settings => {
  const settings = { ...DEFAULTS };
  for (const arg of args) {
    const [key = '', value] = arg.split('=');
    if (key in settings && /^\d+$/.test(value ?? '')) settings[key as keyof Settings] = Number(value);
    else if (arg !== 'scheduled') throw new Error(`unknown argument ${arg}`);
  }
  return settings;
};

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const CONTAINER: V1Container = { name: 'main', image: 'registry.example/app:1.2.3' };

const podOf = (index: number, nodeName: string | undefined, container: V1Container) => ({
  metadata: { name: `pod-${index}`, namespace: 'default', labels: { app: 'bench' } },
  spec: {
    ...(nodeName !== undefined && { nodeName }),
    automountServiceAccountToken: false,
    containers: [container],
    terminationGracePeriodSeconds: 0,
  },
});

/** Keeps so many creations in progress. */
const createAll = async (
  client: Client,
  nodes: readonly (string | undefined)[],
  pods: number,
  container = CONTAINER,
): Promise<void> => {
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < pods; index = next++)
      await client.resource(POD, 'default').create(podOf(index, nodes[index % nodes.length], container));
  };
  await Promise.all(Array.from({ length: CREATES_AT_ONCE }, work));
};

/** Resolves when so many pods run; tells by and by how far it is. */
const untilRunning = async (
  client: Client,
  pods: number,
  onCount: (count: number) => void,
): Promise<void> => {
  const informers = new InformerFactory({ client, clock: systemClock, random: systemRandom, log: silentLog });
  const running = new Set<string>();
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${running.size} of ${pods} pods run after ${PODS_LIMIT_MS / 1000} s`)),
        PODS_LIMIT_MS,
      );
      const look = (pod: { metadata: { name: string }; status?: { phase?: string } }): void => {
        if (pod.status?.phase !== 'Running') return;
        running.add(pod.metadata.name);
        onCount(running.size);
        if (running.size < pods) return;
        clearTimeout(timer);
        resolve();
      };
      informers
        .informer(POD, { labelSelector: 'app=bench' })
        .addHandler({ added: look, updated: (_before, after) => look(after), deleted: () => undefined });
      informers.start();
    });
  } finally {
    informers.dispose();
  }
};

const measurePods = async (
  cluster: RunningCluster,
  data: string,
  pods: number,
  isScheduled: boolean,
): Promise<void> => {
  const client = await adminClient(data);
  try {
    const { items } = await client.resource(NODE).list();
    const workers = items.map(({ metadata }) => metadata.name).filter((name) => name.startsWith('worker'));
    const cpuBefore = treeUsage(cluster.pid).cpuSeconds;
    const startedMs = performance.now();
    let count = 0;
    const running = untilRunning(client, pods, (now) => (count = now));
    running.catch(() => undefined);
    await createAll(client, isScheduled ? [undefined] : workers, pods);
    const createdSeconds = (performance.now() - startedMs) / 1000;
    printRow({
      name: `${pods} pods created`,
      value: pods / createdSeconds,
      unit: '/s',
      note: `${count} of them Running by then`,
    });
    await running;
    const seconds = (performance.now() - startedMs) / 1000;
    printRow({
      name: `${pods} pods ${isScheduled ? 'scheduled' : 'bound'}, creation to Running`,
      value: pods / seconds,
      unit: '/s',
      goal: PODS_PER_SECOND_GOAL,
      note: `${seconds.toFixed(1)} s; ${(((treeUsage(cluster.pid).cpuSeconds - cpuBefore) * 1000) / pods).toFixed(2)} ms of processor time a pod`,
    });
  } finally {
    client.dispose();
  }
};

const measureRest = async (cluster: RunningCluster, what: string): Promise<void> => {
  await sleep(REST_MS);
  const before = treeUsage(cluster.pid);
  const fromMs = performance.now();
  await sleep(REST_MS);
  const after = treeUsage(cluster.pid);
  printRow({
    name: `RSS with ${what}`,
    value: after.rssMib,
    unit: 'MiB',
    note: `PSS ${after.pssMib.toFixed(0)} MiB`,
  });
  printRow({
    name: `processor use at rest with ${what}, over ${REST_MS / 1000} s`,
    value: ((after.cpuSeconds - before.cpuSeconds) * 1e5) / (performance.now() - fromMs),
    unit: '% of a core',
    goal: REST_PERCENT_GOAL,
  });
};

/** Two nodes on one containerd of this bench's own. */
const measureContainers = async (pods: number): Promise<void> => {
  if (noContainers !== undefined) throw new Error(`no containers can run here: ${noContainers}`);
  const data = ownedFolder('node');
  const containerd = await startContainerd();
  let cluster: RunningCluster | undefined;
  try {
    const flags = ['--runtime', 'cri', '--container-runtime-endpoint', containerd.endpoint];
    cluster = await up(
      ...['--data', data, '--control-planes', '1', '--network', String(await freeNetwork())],
      ...flags,
    );
    const container = { name: 'main', image: containerd.image, command: ['/bin/sleep', '600'] };
    const bareSeconds = await bareContainers(containerd, container, pods);
    printRow({ name: `${pods} containers by CRI calls alone`, value: pods / bareSeconds, unit: '/s' });
    const client = await adminClient(data);
    const startedMs = performance.now();
    const running = untilRunning(client, pods, () => undefined);
    await createAll(client, ['worker-1', 'worker-2'], pods, container);
    await running;
    const seconds = (performance.now() - startedMs) / 1000;
    printRow({ name: `${pods} pods bound, creation to Running`, value: pods / seconds, unit: '/s' });
    printRow({
      name: 'time of pods in times of CRI calls alone',
      value: seconds / bareSeconds,
      unit: 'x',
      goal: CONTAINERS_RATIO_GOAL,
      note: `${seconds.toFixed(1)} s against ${bareSeconds.toFixed(1)} s`,
    });
    client.dispose();
  } finally {
    await cluster?.end('SIGTERM');
    await containerd.close();
    await removeWithMounts(data);
  }
};

export const run = async (args: readonly string[]): Promise<void> => {
  const { nodes, pods, 'control-planes': controlPlanes, containers } = settingsOf(args);
  if (containers > 0) return measureContainers(containers);
  const data = mkdtempSync(join(tmpdir(), 'pilothouse-bench-nodes-'));
  printLoad();
  let cluster: RunningCluster | undefined;
  try {
    cluster = await up('--data', data, '--control-planes', String(controlPlanes), '--workers', String(nodes));
    const apiReady = Number(/kube-apiserver.*ready ([\d.]+) s/.exec(cluster.stdout)?.[1] ?? NaN);
    const allReady = Number(/^ready in ([\d.]+) s/m.exec(cluster.stdout)?.[1] ?? NaN);
    printRow({
      name: `${nodes} nodes from the API being ready to all Ready`,
      value: nodes / (allReady - apiReady),
      unit: '/s',
      note: `up says ready in ${allReady} s`,
    });
    await measureRest(cluster, `${nodes} nodes`);
    await measurePods(cluster, data, pods, args.includes('scheduled'));
    await measureRest(cluster, `${pods} pods`);
  } finally {
    await cluster?.end('SIGTERM');
    rmSync(data, { recursive: true, force: true });
  }
};
