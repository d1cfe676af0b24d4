import type { Client } from '../../core/client/index.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import { planHosts } from '../../core/cluster/config/hosts.ts';
import { PORTS } from '../../core/cluster/manifests/control-plane.ts';
import type { ClusterAccess } from '../../core/cluster/monitor/scrape/cluster-access.ts';
import { labelOf, scanMetrics } from '../../core/cluster/monitor/scrape/prometheus-text.ts';
import type { FlowControlView } from '../../core/contract/index.ts';
import { kubeFailure } from '../kube/failure.ts';

const DUMP_PATH = '/debug/api_priority_and_fairness/dump_priority_levels';
const SEATS = 'apiserver_flowcontrol_nominal_limit_seats';
const GROUP_PATH = '/apis/flowcontrol.apiserver.k8s.io/v1';

/** What one API server says about its priority levels. */
export interface ServerDump {
  readonly server: string;
  /** Undefined: it did not answer. */
  readonly levels: string | undefined;
  readonly metrics: string;
}

/** Of every API server by its own address: each shares out its own seats. */
export const localDumps = (access: ClusterAccess, config: ClusterConfig): Promise<readonly ServerDump[]> =>
  Promise.all(
    planHosts(config)
      .filter(({ role }) => role === 'control-plane')
      .map(async ({ name, address }) => {
        const ask = async (path: string): Promise<string | undefined> => {
          const url = `https://${address}:${PORTS.apiServer}${path}`;
          const answer = await access.ask({ url, trust: 'cluster' }).catch(() => undefined);
          return answer?.status === 200 ? answer.text : undefined;
        };
        return { server: name, levels: await ask(DUMP_PATH), metrics: (await ask('/metrics')) ?? '' };
      }),
  );

/** Of the server that answers; others behind the same address are not known. */
export const remoteDumps = async (client: Client): Promise<readonly ServerDump[]> => {
  try {
    const [levels, metrics] = await Promise.all([
      client.text({ method: 'GET', path: DUMP_PATH }),
      client.text({ method: 'GET', path: '/metrics' }),
    ]);
    return [{ server: '', levels, metrics }];
  } catch (error) {
    throw kubeFailure(error);
  }
};

type Level = FlowControlView['levels'][number];
type Counts = Pick<Level, 'executing' | 'waiting' | 'dispatched' | 'rejected' | 'timedOut'>;

/** The rows of upstream's dump: comma-separated columns under their names. */
export const parseDump = (text: string): ReadonlyMap<string, Counts> => {
  const [head = [], ...rows] = text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => line.split(',').map((cell) => cell.trim()));
  const at = (row: readonly string[], column: string): number => Number(row[head.indexOf(column)] ?? 0) || 0;
  return new Map(
    rows.map((row) => [
      row[0] ?? '',
      {
        executing: at(row, 'ExecutingRequests'),
        waiting: at(row, 'WaitingRequests'),
        dispatched: at(row, 'DispatchedRequests'),
        rejected: at(row, 'RejectedRequests'),
        timedOut: at(row, 'TimedoutRequests'),
      },
    ]),
  );
};

const seatsIn = (metrics: string): ReadonlyMap<string, number> => {
  const seats = new Map<string, number>();
  scanMetrics(metrics, new Map([[SEATS, true]]), (_is, labels, value) =>
    seats.set(labelOf(labels, 'priority_level'), value),
  );
  return seats;
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
  dumps: readonly ServerDump[],
): Promise<FlowControlView> => {
  try {
    const [levels, schemas] = await Promise.all([
      client.json<{ items: PriorityLevel[] }>({
        method: 'GET',
        path: `${GROUP_PATH}/prioritylevelconfigurations`,
      }),
      client.json<{ items: FlowSchema[] }>({ method: 'GET', path: `${GROUP_PATH}/flowschemas` }),
    ]);
    const counted = dumps.flatMap(({ levels: text }) => (text === undefined ? [] : [parseDump(text)]));
    const limits = dumps.map(({ metrics }) => seatsIn(metrics));
    const sum = (name: string, field: keyof Counts): number =>
      counted.reduce((total, counts) => total + (counts.get(name)?.[field] ?? 0), 0);
    return {
      levels: levels.items.map(({ metadata: { name }, spec }) => {
        const isExempt = spec?.type === 'Exempt';
        const queuing = spec?.limited?.limitResponse?.queuing;
        const known = limits.flatMap((seats) => seats.get(name) ?? []);
        return {
          name,
          isExempt,
          seats: isExempt || known.length === 0 ? null : known.reduce((total, seats) => total + seats, 0),
          executing: sum(name, 'executing'),
          waiting: sum(name, 'waiting'),
          dispatched: sum(name, 'dispatched'),
          rejected: sum(name, 'rejected'),
          timedOut: sum(name, 'timedOut'),
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
      missing: dumps.filter(({ levels: text }) => text === undefined).map(({ server }) => server),
    };
  } catch (error) {
    throw kubeFailure(error);
  }
};
