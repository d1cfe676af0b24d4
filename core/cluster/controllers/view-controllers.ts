import { isJsonObject } from '../../api/meta/object-meta.ts';
import { messageOf } from '../../base/errors.ts';
import { parseTime } from '../../api/meta/time.ts';
import { LEASE, type Client } from '../../client/index.ts';
import {
  say,
  verbatim,
  type ControllersView,
  type ControllerView as ContractController,
  type QueueFigures,
  type Said,
} from '../../contract/index.ts';
import type { ControllersView as DebugView } from '../../controllers/runtime/controller-book.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { PORTS } from '../manifests/control-plane.ts';
import type { ClusterAccess } from '../monitor/scrape/cluster-access.ts';
import { labelOf, scanMetrics } from '../monitor/scrape/prometheus-text.ts';

const MANAGERS = [
  { name: 'kube-controller-manager', port: PORTS.controllerManager },
  { name: 'cloud-controller-manager', port: PORTS.cloudControllerManager },
] as const;

type Figure = 'depth' | 'adds' | 'retries' | 'longestRunningSeconds' | 'unfinishedSeconds';
const METRICS: ReadonlyMap<string, Figure> = new Map([
  ['workqueue_depth', 'depth'],
  ['workqueue_adds_total', 'adds'],
  ['workqueue_retries_total', 'retries'],
  ['workqueue_longest_running_processor_seconds', 'longestRunningSeconds'],
  ['workqueue_unfinished_work_seconds', 'unfinishedSeconds'],
]);

/** `workqueue_*` by the name of the queue. */
export const queueFiguresIn = (text: string): ReadonlyMap<string, QueueFigures> => {
  const queues = new Map<string, QueueFigures>();
  scanMetrics(text, METRICS, (figure, labels, value) => {
    const name = labelOf(labels, 'name');
    const known = queues.get(name) ?? {
      name,
      depth: 0,
      adds: 0,
      retries: 0,
      longestRunningSeconds: 0,
      unfinishedSeconds: 0,
    };
    queues.set(name, { ...known, [figure]: value });
  });
  return queues;
};

interface Instance {
  readonly host: string;
  readonly debug: DebugView | undefined;
  readonly queues: ReadonlyMap<string, QueueFigures>;
  readonly problem: Said | null;
}

const askInstance = async (access: ClusterAccess, host: string, url: string): Promise<Instance> => {
  const none = { host, debug: undefined, queues: new Map<string, QueueFigures>() };
  try {
    const [page, metrics] = await Promise.all([
      access.ask({ url: `${url}/debug/controllers`, trust: 'any' }),
      access.ask({ url: `${url}/metrics`, trust: 'any' }),
    ]);
    if (page.status !== 200)
      return { ...none, problem: verbatim(`HTTP ${page.status}: ${page.text.trim().slice(0, 200)}`) };
    const debug: unknown = JSON.parse(page.text);
    if (!isJsonObject(debug) || !Array.isArray(debug['controllers']))
      return { ...none, problem: say('controllers.gap.format') };
    return {
      host,
      debug: debug as unknown as DebugView,
      queues: metrics.status === 200 ? queueFiguresIn(metrics.text) : none.queues,
      problem: null,
    };
  } catch (error) {
    return { ...none, problem: verbatim(messageOf(error)) };
  }
};

const leaseOf = async (
  client: Client,
  name: string,
): Promise<{
  readonly holder: string;
  readonly renewedAtMs: number | null;
  readonly problem: Said | null;
}> => {
  try {
    const lease = await client.resource(LEASE, 'kube-system').find(name);
    const renewed = lease?.spec?.renewTime;
    return {
      holder: lease?.spec?.holderIdentity ?? '',
      renewedAtMs: renewed === undefined ? null : (parseTime(renewed) ?? null),
      problem: null,
    };
  } catch (error) {
    return { holder: '', renewedAtMs: null, problem: verbatim(messageOf(error)) };
  }
};

const controllersOf = (manager: string, { debug, queues }: Instance): ContractController[] =>
  (debug?.controllers ?? []).map(({ queues: own, working, recent, failing, ...rest }) => ({
    ...rest,
    manager,
    queues: own.map(({ name, depth }) => ({
      ...(queues.get(name) ?? { name, adds: 0, retries: 0, longestRunningSeconds: 0, unfinishedSeconds: 0 }),
      depth,
    })),
    working: [...working],
    recent: [...recent],
    failing: [...failing],
  }));

/** Of a cluster of this console: every manager is asked by its own address. */
export const viewControllers = async (
  access: ClusterAccess,
  config: ClusterConfig,
  client: Client,
): Promise<ControllersView> => {
  const hosts = planHosts(config).filter(({ role }) => role === 'control-plane');
  const asked = await Promise.all(
    MANAGERS.map(async ({ name, port }) => {
      const [lease, ...instances] = await Promise.all([
        leaseOf(client, name),
        ...hosts.map((host) => askInstance(access, host.name, `https://${host.address}:${port}`)),
      ]);
      return { name, lease, instances };
    }),
  );
  return {
    managers: asked.map(({ name, lease: { holder, renewedAtMs }, instances }) => ({
      name,
      holder,
      renewedAtMs,
      instances: instances.map(({ host, debug, problem }) => ({
        host,
        isLeading: debug?.isLeading === true,
        problem,
      })),
      unsynced: instances.flatMap(({ debug }) => [...(debug?.unsynced ?? [])]),
    })),
    controllers: asked.flatMap(({ name, instances }) => {
      const shown =
        instances.find(({ debug }) => debug?.isLeading === true) ?? instances.find(({ debug }) => debug);
      return shown ? controllersOf(name, shown) : [];
    }),
    gaps: asked.flatMap(({ lease }) =>
      lease.problem ? [say('controllers.gap.lease', { why: lease.problem })] : [],
    ),
  };
};

/** Of any other cluster: who leads. Its managers listen on their own hosts only. */
export const viewControllersByApi = async (client: Client): Promise<ControllersView> => {
  const managers = await Promise.all(
    MANAGERS.map(async ({ name }) => ({ name, ...(await leaseOf(client, name)) })),
  );
  return {
    managers: managers
      .filter(({ holder }) => holder !== '')
      .map(({ name, holder, renewedAtMs }) => ({ name, holder, renewedAtMs, instances: [], unsynced: [] })),
    controllers: [],
    gaps: [
      say('controllers.gap.foreign'),
      ...managers
        .flatMap(({ problem }) => (problem ? [say('controllers.gap.lease', { why: problem })] : []))
        .slice(0, 1),
    ],
  };
};
