import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { systemRandom } from '../../base/node/random.ts';
import {
  CLUSTER_ROLE_BINDING,
  connect,
  loadOwnKubeconfig,
  LEASE,
  MUTATING_WEBHOOK_CONFIGURATION,
  NODE,
  POD,
  VALIDATING_WEBHOOK_CONFIGURATION,
  type Client,
} from '../../client/index.ts';
import { listExpiry } from '../../pki/index.ts';
import { stateOrNone } from '../checks/gather.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts, type HostPlan } from '../config/hosts.ts';
import { adminKubeconfigFile, manifestsFolder } from '../data-folder/layout.ts';
import { stoppedComponents } from '../data-folder/manifest-aside.ts';
import { etcdAccessOf, listMembers } from '../etcd-operator/operations.ts';
import type { ClusterState } from '../state/cluster-state.ts';
import type { Evidence, HostEvidence, MemberEvidence, WaitingEvidence, WebhookEvidence } from './evidence.ts';
import { fsyncOf } from './fsync.ts';

/** A cluster in trouble answers late or never; a diagnosis must not wait for it. */
const ANSWER_MS_MAX = 5_000;
const ITEMS_MAX = 500;
const ELECTIONS = 'kube-system';

const CONTROL_PLANE = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

export interface CollectOptions {
  readonly clock: Clock;
  readonly log: Log;
}

/** Components that a host of this plan runs. */
export const expectedComponents = ({ role, etcd }: Pick<HostPlan, 'role' | 'etcd'>): readonly string[] => [
  ...(role === 'control-plane' ? CONTROL_PLANE : []),
  ...(etcd ? ['etcd'] : []),
];

const hostsOf = (
  data: string,
  config: ClusterConfig,
  state: ClusterState | undefined,
): readonly HostEvidence[] | null => {
  if (!state) return null;
  const plans = new Map(planHosts(config).map((plan) => [plan.name, plan]));
  return state.hosts.map(({ name, phase, nodes, components }) => {
    const plan = plans.get(name);
    const stopped = stoppedComponents(data, name);
    const expected = [...new Set([...(plan ? expectedComponents(plan) : []), ...stopped])];
    const isThere = (component: string): boolean =>
      existsSync(join(manifestsFolder(data, name), `${component}.yaml`));
    return {
      name,
      phase,
      nodes,
      components: components.map((one) => ({
        name: one.name,
        phase: one.phase,
        ...(one.message !== undefined && { message: one.message.split('\n')[0]! }),
      })),
      expected,
      absent: expected.filter((component) => !isThere(component)),
    };
  });
};

const ALARM = /alarm:([A-Z]+)/;

const membersOf = async (data: string, config: ClusterConfig): Promise<readonly MemberEvidence[]> =>
  (await listMembers(etcdAccessOf(data, config))).map(({ name, status }) => ({
    name,
    isUp: status !== undefined,
    dbBytes: status?.dbBytes ?? 0,
    alarms: (status?.errors ?? []).flatMap((text) => ALARM.exec(text)?.[1] ?? []),
  }));

type Asked = Pick<
  Evidence,
  | 'apiProblem'
  | 'serverAheadMs'
  | 'nodes'
  | 'leases'
  | 'webhooks'
  | 'pending'
  | 'waiting'
  | 'missingBindings'
  | 'gaps'
>;

/** What only the API tells, of any cluster. */
export const askApi = async (client: Client, clock: Clock): Promise<Asked> => {
  const gaps: string[] = [];
  const nothing = {
    serverAheadMs: null,
    nodes: null,
    leases: null,
    webhooks: null,
    pending: null,
    waiting: null,
    missingBindings: null,
  };
  let serverAheadMs: number | null = null;
  try {
    const answer = await client.stream({ method: 'GET', path: '/readyz' });
    const atMs = Date.parse(answer.headers['date'] ?? '');
    answer.dispose();
    serverAheadMs = Number.isNaN(atMs) ? null : atMs - clock.nowMs();
  } catch (error) {
    return { ...nothing, apiProblem: messageOf(error), gaps };
  }
  const part = async <T>(what: string, ask: () => Promise<T>): Promise<T | null> => {
    try {
      return await ask();
    } catch (error) {
      gaps.push(`${what}: ${messageOf(error)}`);
      return null;
    }
  };
  const nowMs = clock.nowMs() + serverAheadMs!;
  const [nodes, leases, webhooks, pending, waiting, missingBindings] = await Promise.all([
    part('nodes', () => nodesOf(client)),
    part('leases', () => leasesOf(client)),
    part('webhooks', () => webhooksOf(client)),
    part('pods', () => pendingOf(client, nowMs)),
    part('containers', () => waitingOf(client)),
    part('clusterrolebindings', () => missingBindingsOf(client)),
  ]);
  return {
    apiProblem: null,
    serverAheadMs,
    nodes,
    leases,
    webhooks,
    pending,
    waiting,
    missingBindings,
    gaps,
  };
};

const nodesOf = async (client: Client): Promise<Evidence['nodes']> => {
  const { items } = await client.resource(NODE).list({ limit: ITEMS_MAX });
  return items.map(({ metadata, status, spec }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return {
      name: metadata.name,
      isReady: ready?.status === 'True',
      reason: ready?.message ?? ready?.reason ?? '',
      isSchedulable: spec?.unschedulable !== true,
    };
  });
};

const leasesOf = async (client: Client): Promise<Evidence['leases']> => {
  const { items } = await client.resource(LEASE, ELECTIONS).list({ limit: ITEMS_MAX });
  return items.map(({ metadata, spec }) => ({
    name: metadata.name,
    holder: spec?.holderIdentity ?? '',
    renewedAtMs: Date.parse(String(spec?.renewTime ?? '')) || 0,
    durationSeconds: spec?.leaseDurationSeconds ?? 0,
  }));
};

const pendingOf = async (client: Client, nowMs: number): Promise<Evidence['pending']> => {
  const { items } = await client
    .resource(POD)
    .list({ fieldSelector: 'spec.nodeName=,status.phase=Pending', limit: ITEMS_MAX });
  return items.map(({ metadata, status }) => ({
    pod: `${metadata.namespace}/${metadata.name}`,
    message: status?.conditions?.find(({ type }) => type === 'PodScheduled')?.message ?? '',
    ageMs: nowMs - Date.parse(String(metadata.creationTimestamp ?? '')),
  }));
};

/** Not `ContainerCreating`: these need help. */
const STUCK = [
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'CrashLoopBackOff',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
];

const waitingOf = async (client: Client): Promise<readonly WaitingEvidence[]> => {
  const { items } = await client
    .resource(POD)
    .list({ fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed', limit: ITEMS_MAX });
  return items.flatMap(({ metadata, status }) => {
    const statuses = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
    const stuck = statuses.find(({ state }) => STUCK.includes(state?.waiting?.reason ?? ''))?.state?.waiting;
    if (!stuck) return [];
    const pod = `${metadata.namespace}/${metadata.name}`;
    return [{ pod, reason: stuck.reason ?? '', message: stuck.message ?? '' }];
  });
};

/** Without these a component runs and may do nothing. API servers create them when they start. */
const DEFAULT_BINDINGS = [
  'cluster-admin',
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:node-proxier',
  'system:volume-scheduler',
];

const missingBindingsOf = async (client: Client): Promise<readonly string[]> => {
  const found = await Promise.all(
    DEFAULT_BINDINGS.map(
      async (name) => [name, await client.resource(CLUSTER_ROLE_BINDING).find(name)] as const,
    ),
  );
  return found.filter(([, binding]) => (binding?.subjects?.length ?? 0) === 0).map(([name]) => name);
};

interface Endpoints {
  readonly subsets?: readonly { readonly addresses?: readonly unknown[] }[];
}

const hasBackend = async (client: Client, namespace: string, name: string): Promise<boolean> => {
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/endpoints/${encodeURIComponent(name)}`;
  try {
    const { subsets = [] } = await client.json<Endpoints>({ method: 'GET', path });
    return subsets.some(({ addresses = [] }) => addresses.length > 0);
  } catch {
    // No Service, or none with endpoints: either way no one answers its calls.
    return false;
  }
};

const webhooksOf = async (client: Client): Promise<readonly WebhookEvidence[]> => {
  const [mutating, validating] = await Promise.all([
    client.resource(MUTATING_WEBHOOK_CONFIGURATION).list({ limit: ITEMS_MAX }),
    client.resource(VALIDATING_WEBHOOK_CONFIGURATION).list({ limit: ITEMS_MAX }),
  ]);
  const all = [...mutating.items, ...validating.items].flatMap(({ metadata, webhooks = [] }) =>
    webhooks.map((webhook) => ({ configuration: metadata.name, webhook })),
  );
  return Promise.all(
    all.slice(0, ITEMS_MAX).map(async ({ configuration, webhook }) => {
      const { service, url } = webhook.clientConfig;
      return {
        configuration,
        name: webhook.name,
        target: service ? `${service.namespace}/${service.name}` : (url ?? ''),
        isFailing: service !== undefined && !(await hasBackend(client, service.namespace, service.name)),
        failsClosed: webhook.failurePolicy !== 'Ignore',
      };
    }),
  );
};

/** Of a cluster of this machine, running or not. */
export const collectEvidence = async (
  data: string,
  config: ClusterConfig,
  { clock, log }: CollectOptions,
): Promise<Evidence> => {
  const state = await stateOrNone(data);
  const client = connect(await loadOwnKubeconfig(adminKubeconfigFile(data)), {
    clock,
    random: systemRandom,
    log,
    userAgent: 'pilothouse-doctor',
    timeoutMs: ANSWER_MS_MAX,
  });
  const gaps: string[] = [];
  const orNull = async <T>(what: string, work: Promise<T>): Promise<T | null> => {
    try {
      return await work;
    } catch (error) {
      gaps.push(`${what}: ${messageOf(error)}`);
      return null;
    }
  };
  try {
    const isRunning = state !== undefined;
    const [asked, members, expiry, disks] = await Promise.all([
      askApi(client, clock),
      isRunning ? orNull('etcd', membersOf(data, config)) : null,
      orNull('certificates', listExpiry(data, clock)),
      isRunning ? orNull('metrics', fsyncOf(data, config)) : null,
    ]);
    const nowMs = clock.nowMs();
    return {
      ...asked,
      nowMs,
      hosts: hostsOf(data, config, state),
      faults: state?.faults ?? [],
      members: members ?? downMembers(config, isRunning),
      quotaBytes: disks?.quotaBytes ?? null,
      fsyncSeconds: disks?.fsyncSeconds ?? null,
      certificates: expiry?.map(({ name, residualMs }) => ({ name, notAfterMs: nowMs + residualMs })) ?? null,
      gaps: [...asked.gaps, ...gaps],
    };
  } finally {
    client.dispose();
  }
};

/** No member answered: then all of ours are down. */
const downMembers = (config: ClusterConfig, isRunning: boolean): readonly MemberEvidence[] | null =>
  isRunning && config.spec.externalEtcd === undefined
    ? planHosts(config)
        .flatMap(({ etcd }) => (etcd ? [etcd.name] : []))
        .map((name) => ({ name, isUp: false, dbBytes: 0, alarms: [] }))
    : null;
