import type { Clock } from '../../core/base/clock.ts';
import type { V1Pod } from '../../core/api/schema/index.ts';
import { POD, type Client } from '../../core/client/index.ts';
import { auditLogsOf, readAuditEvents } from '../../core/cluster/audit-trail/read-events.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import type { Denial } from '../../core/graph/index.ts';

const PODS_MAX = 5000;
const PODS_PER_PAGE = 500;
const FRESH_MS = 5000;
/** Older denials may be of a version of the application that is gone. */
const DENIALS_SINCE_MS = 60 * 60 * 1000;
const FORBIDDEN = 403;
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Answers again from memory for a few seconds: a graph is built more often than this changes. */
export const remembered = <T>(clock: Clock, read: () => Promise<T>): (() => Promise<T>) => {
  let known: { readonly atMs: number; readonly answer: Promise<T> } | undefined;
  return () => {
    const nowMs = clock.monotonicMs();
    if (!known || nowMs - known.atMs > FRESH_MS) known = { atMs: nowMs, answer: read() };
    return known.answer;
  };
};

/** Pods with a node, of all namespaces; undefined where they may not be read, or are too many to judge. */
export const placedPods = async (client: Client): Promise<readonly V1Pod[] | undefined> => {
  const pods: V1Pod[] = [];
  try {
    for await (const pod of client.resource(POD).iterate({ limit: PODS_PER_PAGE })) {
      if ((pod.spec?.nodeName ?? '') === '') continue;
      pods.push(pod as unknown as V1Pod);
      if (pods.length > PODS_MAX) return undefined;
    }
    return pods;
  } catch {
    // The graph says that capacity is unknown; what else failed is said by the lists themselves.
    return undefined;
  }
};

/** What service accounts of a namespace were denied of late; undefined where nothing is recorded. */
export const recentDenials = async (
  { directory, config }: { readonly directory: string; readonly config: ClusterConfig },
  namespace: string,
  nowMs: number,
): Promise<readonly Denial[] | undefined> => {
  const logs = await auditLogsOf(directory, config);
  if (logs.length === 0) return undefined;
  const { events } = await readAuditEvents(logs, {
    user: `system:serviceaccount:${namespace}:`,
    verb: '',
    object: '',
    resource: null,
    fromMs: nowMs - DENIALS_SINCE_MS,
    toMs: null,
    onlyDenied: true,
    onlyPeople: false,
  });
  const denials = new Map<string, Denial>();
  for (const {
    user,
    impersonated,
    verb,
    group,
    resource,
    subresource,
    namespace: where,
    name,
    code,
  } of events) {
    const [, accountNamespace, account] = ACCOUNT.exec(impersonated === '' ? user : impersonated) ?? [];
    if (code !== FORBIDDEN || accountNamespace !== namespace || account === undefined || resource === '')
      continue;
    const full = subresource === '' ? resource : `${resource}/${subresource}`;
    const key = [account, verb, group, full, where].join('\n');
    const known = denials.get(key);
    denials.set(key, {
      account: { namespace, name: account },
      verb,
      group,
      resource: full,
      namespace: where,
      name,
      count: (known?.count ?? 0) + 1,
    });
  }
  return [...denials.values()];
};
