import { LEASE, POD } from '../../client/index.ts';
import { etcdAccessOf, listMembers, type MemberView } from '../etcd-operator/operations.ts';
import { ELECTED_COMPONENTS } from './bootstrap.ts';
import type { Supervisor } from './supervisor.ts';
import type { ActionFacts } from '../faults/facts.ts';

/** A preview must not wait for a cluster that has lost its quorum. */
const ANSWER_TIMEOUT_MS = 1_500;

const within = async <T>(work: Promise<T>, otherwise: T): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<T>((resolve) => (timer = setTimeout(resolve, ANSWER_TIMEOUT_MS, otherwise)));
  try {
    return await Promise.race([work.catch(() => otherwise), late]);
  } finally {
    clearTimeout(timer);
  }
};

const leasesOf = async ({ client }: Supervisor): Promise<ActionFacts['leases']> => {
  if (!client) return [];
  const { items } = await client.resource(LEASE, 'kube-system').list({ timeoutMs: ANSWER_TIMEOUT_MS });
  return (
    items
      .filter(({ metadata, spec }) => ELECTED_COMPONENTS.includes(metadata.name) && spec?.holderIdentity)
      // `<host>_<uuid>`, as upstream's components call themselves.
      .map(({ metadata, spec }) => ({ name: metadata.name, host: spec!.holderIdentity!.split('_')[0]! }))
  );
};

const podsOf = async ({ client }: Supervisor): Promise<ActionFacts['podsByNode']> => {
  const counts: Record<string, number> = {};
  if (!client) return counts;
  const { items } = await client.resource(POD).list({ resourceVersion: '0', timeoutMs: ANSWER_TIMEOUT_MS });
  for (const { spec, metadata } of items) {
    // Pods of manifests belong to their host and go nowhere.
    if (spec?.nodeName === undefined || metadata.annotations?.['kubernetes.io/config.mirror'] !== undefined)
      continue;
    counts[spec.nodeName] = (counts[spec.nodeName] ?? 0) + 1;
  }
  return counts;
};

/** The members as they say themselves; where none answers, as the configuration has them. */
const membersOf = async (supervisor: Supervisor): Promise<ActionFacts['members']> => {
  const ours = supervisor.hosts.flatMap(({ plan }) => (plan.etcd ? [{ ...plan.etcd, host: plan.name }] : []));
  if (ours.length === 0) return [];
  const seen = await within<readonly MemberView[] | undefined>(
    listMembers(etcdAccessOf(supervisor.folder.directory, supervisor.config)),
    undefined,
  );
  if (seen)
    return seen.map(({ id, name, isLearner, isLeader, status }) => ({
      id,
      name,
      host: ours.find((one) => one.name === name)?.host ?? '',
      isLearner,
      isLeader,
      isHealthy: status !== undefined,
    }));
  return ours.map(({ name, host }) => ({
    id: name,
    name,
    host,
    isLearner: false,
    isLeader: false,
    isHealthy: supervisor.host(host).phase === 'running',
  }));
};

/** The cluster as it is now, for a preview. Never waits long and never rejects. */
export const gatherActionFacts = async (supervisor: Supervisor): Promise<ActionFacts> => {
  const [members, leases, podsByNode] = await Promise.all([
    membersOf(supervisor),
    within(leasesOf(supervisor), []),
    within(podsOf(supervisor), {}),
  ]);
  return {
    hosts: supervisor.state().hosts.map(({ name, role, phase, nodes, components }) => ({
      name,
      role,
      phase,
      nodes,
      ready: components.filter((one) => one.phase === 'ready').map((one) => one.name),
    })),
    members,
    leases,
    podsByNode,
    faults: supervisor.faults.list(),
  };
};
