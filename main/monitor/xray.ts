import { parse } from 'yaml';
import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import { isNotFound } from '../../core/api/meta/status.ts';
import { yamlFault } from '../../core/base/parse-fault.ts';
import { messageOf } from '../../core/base/errors.ts';
import type { Client } from '../../core/client/index.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import { planHosts } from '../../core/cluster/config/hosts.ts';
import { PORTS } from '../../core/cluster/manifests/control-plane.ts';
import type { ClusterAccess } from '../../core/cluster/monitor/scrape/cluster-access.ts';
import {
  ContractError,
  type InputOf,
  type RequestTrace,
  say,
  type SchedulingView,
  together,
  TRACES_MAX,
  verbatim,
} from '../../core/contract/index.ts';
import type { Explanation } from '../../core/scheduler/explain/explanation.ts';
import { kubeFailure } from '../kube/failure.ts';

/** What an API server keeps; a filter looks through all of it. */
const KEPT_TRACES = 1000;
const ATTEMPTS_MAX = 32;
const ROWS_MAX = 500;

type Query = Pick<InputOf<'xray.requests'>, 'filter' | 'auditId'>;

type AdmissionRecord = NonNullable<RequestTrace['admission']>[number];

/** As /debug/traces answers; the reason of a stage is there only where it refused. */
interface ServerTrace extends Omit<RequestTrace, 'server' | 'stages' | 'admission'> {
  readonly admission?: readonly (Omit<AdmissionRecord, 'message' | 'patch'> & Partial<AdmissionRecord>)[];
  readonly stages: readonly (Omit<RequestTrace['stages'][number], 'reason'> & { readonly reason?: string })[];
}

const controlPlanesOf = (config: ClusterConfig) =>
  planHosts(config).filter(({ role }) => role === 'control-plane');

const tracesIn = (text: string, server: string): RequestTrace[] =>
  (JSON.parse(text) as { items: ServerTrace[] }).items.map(({ admission, ...trace }) => ({
    ...trace,
    server,
    stages: trace.stages.map((stage) => ({ ...stage, reason: stage.reason ?? '' })),
    ...(admission && {
      admission: admission.map((record) => ({
        ...record,
        message: record.message ?? '',
        patch: record.patch ?? [],
      })),
    }),
  }));

const pathOf = ({
  filter,
  auditId,
}: Query): { readonly path: string; readonly query: Record<string, string> } => ({
  path: '/debug/traces',
  query:
    auditId === null ? { limit: String(filter === '' ? TRACES_MAX : KEPT_TRACES) } : { auditID: auditId },
});

const newestOf = (traces: readonly RequestTrace[], { filter }: Query): RequestTrace[] =>
  traces
    .filter(({ path, user }) => path.includes(filter) || user.includes(filter))
    .sort((a, b) => b.startedAtMs - a.startedAtMs)
    .slice(0, TRACES_MAX);

/** Asks every API server by its own address; those that do not answer are left out unless none does. */
export const askApiServers = async <T>(
  access: ClusterAccess,
  config: ClusterConfig,
  {
    what,
    path,
    read,
  }: { readonly what: string; readonly path: string; read(text: string, server: string): T },
): Promise<T[]> => {
  const failures: string[] = [];
  const answers = await Promise.all(
    controlPlanesOf(config).map(async ({ name, address }) => {
      try {
        const url = `https://${address}:${PORTS.apiServer}${path}`;
        const { status, text } = await access.ask({ url, trust: 'cluster' });
        if (status === 200) return [read(text, name)];
        failures.push(`${name} returned ${status}`);
      } catch (error) {
        failures.push(`${name}: ${messageOf(error)}`);
      }
      return [];
    }),
  );
  const known = answers.flat();
  if (known.length === 0)
    throw new ContractError('Unavailable', say('failure.noTraces', { what, why: failures.join('; ') }));
  return known;
};

/** Each API server remembers its own requests. */
export const localRequests = async (
  access: ClusterAccess,
  config: ClusterConfig,
  query: Query,
): Promise<RequestTrace[]> => {
  const { path, query: parameters } = pathOf(query);
  const traces = await askApiServers(access, config, {
    what: 'request traces',
    path: `${path}?${new URLSearchParams(parameters)}`,
    read: tracesIn,
  });
  return newestOf(traces.flat(), query);
};

/** Of the one server behind a kubeconfig, if it is one of ours. */
export const remoteRequests = async (client: Client, query: Query): Promise<RequestTrace[]> => {
  try {
    const text = await client.text({ method: 'GET', ...pathOf(query) });
    return newestOf(tracesIn(text, ''), query);
  } catch (error) {
    if (isNotFound(error) || error instanceof SyntaxError)
      throw new ContractError('Unimplemented', say('failure.tracesUnsupported'), { cause: error });
    throw kubeFailure(error);
  }
};

export const schedulingViewOf = (explanation: Explanation): SchedulingView => {
  const { pod, rejections, scores } = explanation;
  const refused = rejections.flatMap(({ plugin, reasons, nodes }) =>
    nodes.map((node) => ({ node, refusedBy: plugin, reason: reasons.join(', '), scores: [], total: 0 })),
  );
  const scored = scores.map(({ node, total, plugins }) => ({
    node,
    refusedBy: '',
    reason: '',
    scores: plugins.map(({ weighted }) => weighted),
    total,
  }));
  const refusedCount = rejections.reduce((sum, { nodeCount }) => sum + nodeCount, 0);
  return {
    pod: `${pod.namespace}/${pod.name}`,
    atMs: explanation.startedAtMs,
    profile: explanation.profile,
    node: explanation.nodeName ?? '',
    message: explanation.message ?? '',
    evaluated: Math.min(explanation.nodeCount, refusedCount + explanation.feasibleNodeCount),
    nodes: explanation.nodeCount,
    filters: [...new Set(rejections.map(({ plugin }) => plugin))],
    scores: scores[0]?.plugins.map(({ name, weight }) => ({ plugin: name, weight })) ?? [],
    rows: [...scored, ...refused].slice(0, ROWS_MAX),
  };
};

/** The answer of the scheduler that leads; the others have nothing to tell. */
const askLeader = async (
  access: ClusterAccess,
  config: ClusterConfig,
  path: string,
  body?: string,
): Promise<Record<string, unknown>> => {
  const failures: string[] = [];
  const answers = await Promise.all(
    controlPlanesOf(config).map(async ({ name, address }) => {
      try {
        const url = `https://${address}:${PORTS.scheduler}${path}`;
        const { status, text } = await access.ask({ url, trust: 'any', ...(body !== undefined && { body }) });
        if (status === 400) return { refusal: text.trim() };
        if (status !== 200) {
          failures.push(`${name} returned ${status}: ${text.trim()}`);
          return undefined;
        }
        const answer: unknown = JSON.parse(text);
        return isJsonObject(answer) && answer['isLeading'] === true ? { answer } : undefined;
      } catch (error) {
        failures.push(`${name}: ${messageOf(error)}`);
        return undefined;
      }
    }),
  );
  const refusal = answers.find((one) => one?.refusal !== undefined)?.refusal;
  if (refusal !== undefined) throw new ContractError('BadRequest', verbatim(refusal));
  const found = answers.find((one) => one?.answer)?.answer;
  if (found) return found;
  throw new ContractError(
    'Unavailable',
    together([say('failure.noSchedulerLeads'), ...failures.map(verbatim)]),
  );
};

export const localScheduling = async (
  access: ClusterAccess,
  config: ClusterConfig,
  { namespace, pod }: { readonly namespace: string; readonly pod: string },
): Promise<SchedulingView[]> => {
  const query = new URLSearchParams({ namespace, name: pod, limit: String(ATTEMPTS_MAX) });
  const answer = await askLeader(access, config, `/debug/explanations?${query}`);
  return (answer['items'] as Explanation[]).slice(0, ATTEMPTS_MAX).map(schedulingViewOf);
};

/** The pod of a text, with a name to speak of it by. */
export const podOf = (text: string): Record<string, unknown> => {
  let pod: unknown;
  try {
    pod = parse(text);
  } catch (cause) {
    throw new ContractError('BadRequest', say('failure.notYaml', { why: yamlFault(cause) }));
  }
  if (!isJsonObject(pod) || (pod['kind'] ?? 'Pod') !== 'Pod' || !isJsonObject(pod['spec']))
    throw new ContractError('BadRequest', say('failure.podRequired'));
  const metadata = isJsonObject(pod['metadata']) ? pod['metadata'] : {};
  return { ...pod, metadata: { name: 'what-if', namespace: 'default', ...metadata } };
};

export const localWhatIf = async (
  access: ClusterAccess,
  config: ClusterConfig,
  text: string,
): Promise<SchedulingView> => {
  const answer = await askLeader(access, config, '/debug/what-if', JSON.stringify(podOf(text)));
  return schedulingViewOf(answer['explanation'] as Explanation);
};

export const noExplanations = (): ContractError =>
  new ContractError('Unimplemented', say('failure.ownOnly.scheduling'));
