import type { ClusterAction } from '../../contract/actions/actions.ts';
import type { ActionPreview } from '../../contract/schemas/local-cluster.ts';
import type { ActionFacts } from './facts.ts';
import type { FaultRequest } from './fault.ts';
import { heardBy, hostsCutOff, votesMax } from './reach.ts';

type Effect = ActionPreview['effects'][number];
type Quorum = NonNullable<ActionPreview['quorum']>;

/** What an action takes away from the cluster as it is, or gives back to it. */
interface Change {
  /** Members that do not respond after it, by id. */
  readonly lost?: readonly string[];
  readonly gained?: readonly string[];
  readonly removed?: readonly string[];
  readonly added?: number;
  /** Hosts whose API server is gone after it. */
  readonly apiServersLost?: readonly string[];
  readonly effects?: readonly Effect[];
  /** What is broken intentionally after it, where it changes that. */
  readonly faults?: readonly FaultRequest[];
  /** For a moment no one can write, however many members there are. */
  readonly stopsWrites?: boolean;
}

const effect = (code: Effect['code'], subject: string, count = 0): Effect => ({ code, subject, count });

const majority = (voters: number): number => Math.floor(voters / 2) + 1;

const isApiServerReady = ({ ready }: ActionFacts['hosts'][number]): boolean =>
  ready.includes('kube-apiserver');

const memberOf = (facts: ActionFacts, nameOrId: string): ActionFacts['members'][number] | undefined =>
  facts.members.find(({ id, name }) => id === nameOrId || name === nameOrId);

const membersOn = (facts: ActionFacts, host: string): readonly string[] =>
  facts.members.filter((member) => member.host === host).map(({ id }) => id);

const hostEffects = (facts: ActionFacts, name: string): readonly Effect[] => {
  const host = facts.hosts.find((one) => one.name === name);
  const pods = (host?.nodes ?? []).reduce((count, node) => count + (facts.podsByNode[node] ?? 0), 0);
  return [
    ...facts.leases.filter((lease) => lease.host === name).map((lease) => effect('leaseMoves', lease.name)),
    ...(host?.nodes ?? []).map((node) => effect('nodeStopsAnswering', node)),
    ...(pods > 0 ? [effect('podsMove', name, pods)] : []),
  ];
};

const hostGoes = (facts: ActionFacts, name: string): Change => ({
  lost: membersOn(facts, name),
  apiServersLost: [name],
  effects: hostEffects(facts, name),
});

const componentGoes = (facts: ActionFacts, host: string, component: string): Change => ({
  ...(component === 'etcd' && { lost: membersOn(facts, host) }),
  ...(component === 'kube-apiserver' && { apiServersLost: [host] }),
  effects: facts.leases
    .filter((lease) => lease.host === host && lease.name === component)
    .map((lease) => effect('leaseMoves', lease.name)),
});

/** A host that the load balancer does not reach serves no one, and its own components reach no API server. */
const faultsBecome = (facts: ActionFacts, faults: readonly FaultRequest[]): Change => {
  const names = facts.hosts.map(({ name }) => name);
  const cutOff = hostsCutOff(names, facts.faults, faults);
  return { faults, apiServersLost: cutOff, effects: cutOff.flatMap((name) => hostEffects(facts, name)) };
};

const changeOf = (facts: ActionFacts, action: ClusterAction): Change => {
  switch (action.kind) {
    case 'host.kill':
    case 'host.stop':
    case 'host.restart':
    case 'host.pause':
      return hostGoes(facts, action.host);
    case 'host.start':
    case 'host.resume':
      return { gained: membersOn(facts, action.host) };
    case 'component.kill': {
      const change = componentGoes(facts, action.host, action.component);
      return { ...change, effects: [...change.effects!, effect('componentRestarts', action.component)] };
    }
    case 'component.stop':
      return componentGoes(facts, action.host, action.component);
    case 'component.start':
      return action.component === 'etcd' ? { gained: membersOn(facts, action.host) } : {};
    // One host at a time, and only while all are healthy.
    case 'component.flags':
      return {};
    case 'fault.add':
      return faultsBecome(facts, [...facts.faults, action.fault]);
    case 'fault.isolate':
      return hostGoes(facts, action.host);
    case 'fault.heal':
      return faultsBecome(
        facts,
        facts.faults.filter(({ id }) => action.id !== 'all' && id !== action.id),
      );
    case 'member.moveLeader':
      return { effects: [effect('etcdLeaderMoves', action.member), effect('writesPause', action.member)] };
    case 'member.remove': {
      const member = memberOf(facts, action.member);
      const host = facts.hosts.find(({ name }) => name === member?.host);
      return {
        removed: member ? [member.id] : [],
        apiServersLost: host ? [host.name] : [],
        effects: host ? hostEffects(facts, host.name) : [],
      };
    }
    case 'member.add':
      return { added: 1 };
    case 'etcd.defragment': {
      const targets = action.member === null ? facts.members : [memberOf(facts, action.member)];
      return {
        effects: targets.flatMap((member) => (member ? [effect('memberAnswersNothing', member.name)] : [])),
      };
    }
    case 'snapshot.restore':
      return {
        stopsWrites: true,
        effects: [effect('everythingReplaced', action.file), effect('writesPause', 'etcd')],
      };
    case 'upgrade.apply':
    case 'upgrade.rollback':
    case 'encryption.enable':
    case 'harden.apply':
    case 'harden.rollback':
      return {
        effects: facts.hosts
          .filter(({ role }) => role === 'control-plane')
          .map(({ name }) => effect('componentRestarts', name)),
        ...(facts.hosts.filter(isApiServerReady).length <= 1 && { stopsWrites: true }),
      };
    case 'node.drain':
      return { effects: [effect('podsMove', action.node, facts.podsByNode[action.node] ?? 0)] };
    case 'encryption.rotate':
    case 'etcd.compact':
    case 'etcd.disarm':
    case 'snapshot.save':
    case 'snapshot.delete':
    case 'certificates.renew':
      return {};
  }
};

const quorumAfter = (facts: ActionFacts, change: Change): Quorum | null => {
  const voters = facts.members.filter(({ isLearner }) => !isLearner);
  if (voters.length === 0) return null;
  const lost = new Set([...(change.lost ?? []), ...(change.removed ?? [])]);
  const gained = new Set(change.gained ?? []);
  const removed = voters.filter(({ id }) => change.removed?.includes(id)).length;
  const added = change.added ?? 0;
  const votersAfter = voters.length - removed + added;
  return {
    voters: voters.length,
    needed: majority(voters.length),
    healthyNow: votesMax(
      voters.filter(({ isHealthy }) => isHealthy),
      facts.faults,
    ),
    votersAfter,
    neededAfter: majority(votersAfter),
    healthyAfter:
      votesMax(
        voters.filter(({ id, isHealthy }) => !lost.has(id) && (isHealthy || gained.has(id))),
        change.faults ?? facts.faults,
      ) + added,
  };
};

/** A leader that hears no majority steps down. */
const isLeaderLost = (facts: ActionFacts, change: Change, neededAfter: number): boolean => {
  const leader = facts.members.find(({ isLeader }) => isLeader);
  if (!leader) return false;
  if ([...(change.lost ?? []), ...(change.removed ?? [])].includes(leader.id)) return true;
  const voters = facts.members.filter(({ isLearner, isHealthy }) => !isLearner && isHealthy);
  return change.faults !== undefined && heardBy(leader, voters, change.faults).length < neededAfter;
};

const quorumEffects = (facts: ActionFacts, change: Change, quorum: Quorum): readonly Effect[] => {
  const isLost = quorum.healthyAfter < quorum.neededAfter;
  const isWorse =
    quorum.healthyAfter < quorum.healthyNow ||
    quorum.votersAfter !== quorum.voters ||
    quorum.healthyNow < quorum.needed;
  const leader = facts.members.find(({ isLeader }) => isLeader);
  return [
    ...(leader && isLeaderLost(facts, change, quorum.neededAfter)
      ? [effect('etcdLeaderMoves', leader.name), effect('writesPause', leader.name)]
      : []),
    ...facts.members
      .filter(({ id }) => change.lost?.includes(id))
      .map(({ name }) => effect('memberAnswersNothing', name)),
    ...(isWorse && isLost ? [effect('quorumLost', 'etcd', quorum.healthyAfter)] : []),
    ...(isWorse && !isLost && quorum.healthyAfter === quorum.neededAfter
      ? [effect('noFailureTolerated', 'etcd', quorum.healthyAfter)]
      : []),
    ...(quorum.votersAfter !== quorum.voters && quorum.votersAfter % 2 === 0
      ? [effect('evenMembers', 'etcd', quorum.votersAfter)]
      : []),
  ];
};

const apiServerEffects = (facts: ActionFacts, change: Change): readonly Effect[] => {
  const now = facts.hosts.filter(isApiServerReady);
  const left = now.filter(({ name }) => !change.apiServersLost?.includes(name));
  if (left.length === now.length) return [];
  return [
    left.length === 0
      ? effect('noApiServerLeft', 'kube-apiserver')
      : effect('apiServersLeft', 'kube-apiserver', left.length),
  ];
};

/** What an action would do to the cluster as it is. Looks at nothing but the facts. */
export const previewAction = (facts: ActionFacts, action: ClusterAction): ActionPreview => {
  const change = changeOf(facts, action);
  const quorum = quorumAfter(facts, change);
  const effects = [
    ...(quorum ? quorumEffects(facts, change, quorum) : []),
    ...apiServerEffects(facts, change),
    ...(change.effects ?? []),
  ];
  const has = (...codes: readonly Effect['code'][]): boolean =>
    effects.some(({ code }) => codes.includes(code));
  const isOutage = change.stopsWrites === true || has('quorumLost', 'noApiServerLeft');
  const verdict = isOutage
    ? 'outage'
    : has('noFailureTolerated', 'apiServersLeft', 'memberAnswersNothing')
      ? 'degraded'
      : 'safe';
  return { verdict, quorum, effects };
};
