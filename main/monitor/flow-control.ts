import type { Client } from '../../core/client/index.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import { planHosts } from '../../core/cluster/config/hosts.ts';
import { PORTS } from '../../core/cluster/manifests/control-plane.ts';
import type { ClusterAccess } from '../../core/cluster/monitor/scrape/cluster-access.ts';
import { labelOf, scanMetrics } from '../../core/cluster/monitor/scrape/prometheus-text.ts';
import type { FlowControlView } from '../../core/contract/index.ts';
import { kubeFailure } from '../kube/failure.ts';

/** Metrics of priority levels; several flow schemas and reasons lead into one level and add up. */
const FIELDS = new Map([
  ['apiserver_flowcontrol_nominal_limit_seats', 'seats'],
  ['apiserver_flowcontrol_current_executing_requests', 'executing'],
  ['apiserver_flowcontrol_current_inqueue_requests', 'waiting'],
  ['apiserver_flowcontrol_dispatched_requests_total', 'dispatched'],
  ['apiserver_flowcontrol_rejected_requests_total', 'rejected'],
] as const);
const GROUP_PATH = '/apis/flowcontrol.apiserver.k8s.io/v1';

/** The metrics of one API server; undefined: it did not answer. */
export interface ServerMetrics {
  readonly server: string;
  readonly metrics: string | undefined;
}

/** Of every API server by its own address: each shares out its own seats. */
export const localMetrics = (
  access: ClusterAccess,
  config: ClusterConfig,
): Promise<readonly ServerMetrics[]> =>
  Promise.all(
    planHosts(config)
      .filter(({ role }) => role === 'control-plane')
      .map(async ({ name, address }) => {
        const url = `https://${address}:${PORTS.apiServer}/metrics`;
        const answer = await access.ask({ url, trust: 'cluster' }).catch(() => undefined);
        return { server: name, metrics: answer?.status === 200 ? answer.text : undefined };
      }),
  );

/** Of the server that answers; others behind the same address are not known. */
export const remoteMetrics = async (client: Client): Promise<readonly ServerMetrics[]> => {
  try {
    return [{ server: '', metrics: await client.text({ method: 'GET', path: '/metrics' }) }];
  } catch (error) {
    throw kubeFailure(error);
  }
};

type Counts = Record<'seats' | 'executing' | 'waiting' | 'dispatched' | 'rejected', number>;

/** What the metrics of all servers say about each priority level, added up. */
export const countsOf = (texts: readonly string[]): ReadonlyMap<string, Counts> => {
  const levels = new Map<string, Counts>();
  for (const text of texts)
    scanMetrics(text, FIELDS, (field, labels, value) => {
      const level = labelOf(labels, 'priority_level');
      const counts = levels.get(level) ?? { seats: 0, executing: 0, waiting: 0, dispatched: 0, rejected: 0 };
      counts[field] += value;
      levels.set(level, counts);
    });
  return levels;
};

interface PriorityLevel {
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly type?: string;
    readonly limited?: {
      readonly limitResponse?: {
        readonly queuing?: { readonly queues?: number; readonly handSize?: number };
      };
    };
  };
}

interface SchemaSubject {
  readonly kind: string;
  readonly user?: { readonly name: string };
  readonly group?: { readonly name: string };
  readonly serviceAccount?: { readonly namespace: string; readonly name: string };
}

interface FlowSchema {
  readonly metadata: { readonly name: string };
  readonly spec?: {
    readonly matchingPrecedence?: number;
    readonly priorityLevelConfiguration?: { readonly name?: string };
    readonly distinguisherMethod?: { readonly type?: string };
    readonly rules?: readonly { readonly subjects?: readonly SchemaSubject[] }[];
  };
}

const subjectText = ({ user, group, serviceAccount, kind }: SchemaSubject): string =>
  user?.name ?? group?.name ?? (serviceAccount ? `${serviceAccount.namespace}/${serviceAccount.name}` : kind);

export const viewFlowControl = async (
  client: Client,
  servers: readonly ServerMetrics[],
): Promise<FlowControlView> => {
  try {
    const [levels, schemas] = await Promise.all([
      client.json<{ items: PriorityLevel[] }>({
        method: 'GET',
        path: `${GROUP_PATH}/prioritylevelconfigurations`,
      }),
      client.json<{ items: FlowSchema[] }>({ method: 'GET', path: `${GROUP_PATH}/flowschemas` }),
    ]);
    const counted = countsOf(servers.flatMap(({ metrics }) => metrics ?? []));
    return {
      levels: levels.items.map(({ metadata: { name }, spec }) => {
        const isExempt = spec?.type === 'Exempt';
        const queuing = spec?.limited?.limitResponse?.queuing;
        const counts = counted.get(name);
        return {
          name,
          isExempt,
          seats: isExempt || counts === undefined ? null : counts.seats,
          executing: counts?.executing ?? 0,
          waiting: counts?.waiting ?? 0,
          dispatched: counts?.dispatched ?? 0,
          rejected: counts?.rejected ?? 0,
          queues: queuing?.queues ?? null,
          handSize: queuing?.handSize ?? null,
        };
      }),
      schemas: schemas.items
        .map(({ metadata: { name }, spec }) => ({
          name,
          precedence: spec?.matchingPrecedence ?? 0,
          level: spec?.priorityLevelConfiguration?.name ?? '',
          distinguisher: spec?.distinguisherMethod?.type ?? '',
          subjects: [
            ...new Set((spec?.rules ?? []).flatMap(({ subjects = [] }) => subjects.map(subjectText))),
          ],
        }))
        .sort((a, b) => a.precedence - b.precedence || (a.name < b.name ? -1 : 1)),
      missing: servers.filter(({ metrics }) => metrics === undefined).map(({ server }) => server),
    };
  } catch (error) {
    throw kubeFailure(error);
  }
};
