import type { MemberId } from '../../raft/types.ts';
import { clusterIdOf, idText, memberIdOf } from './member-id.ts';
import { checkMemberUrls } from './member-urls.ts';
import { MembershipError, type ClusterId, type Member } from './types.ts';

const bad = (message: string): MembershipError => new MembershipError('BadCluster', message);

/** `a=https://x:2380,a=https://y:2380,b=...`: peer URLs by member name. */
export const parseInitialCluster = (text: string): Map<string, string[]> => {
  const urls = new Map<string, string[]>();
  for (const part of text.split(',')) {
    const equals = part.indexOf('=');
    const name = (equals < 0 ? part : part.slice(0, equals)).trim();
    const url = equals < 0 ? '' : part.slice(equals + 1).trim();
    if (name === '' || url === '') {
      throw bad(`--initial-cluster: "${part}" is not of the form name=url`);
    }
    urls.set(name, [...(urls.get(name) ?? []), url]);
  }
  try {
    return new Map([...urls].map(([name, list]) => [name, checkMemberUrls(list)]));
  } catch (error) {
    throw new MembershipError('BadCluster', `error setting up initial cluster: ${(error as Error).message}`, {
      cause: error,
    });
  }
};

export interface ClusterFlags {
  readonly name: string;
  readonly initialCluster: string;
  readonly initialClusterToken: string;
  readonly advertisePeerUrls: readonly string[];
}

export interface ClusterPlan {
  readonly localId: MemberId;
  readonly clusterId: ClusterId;
  /** Sorted by id. The names stand here for who reads them; members publish their own when they start. */
  readonly members: readonly Member[];
}

/** As etcd words it: what a founder advertises is what the other founders know it by. */
const assertAdvertised = (flags: ClusterFlags, own: readonly string[]): void => {
  const advertised = checkMemberUrls(flags.advertisePeerUrls);
  const named = (urls: readonly string[]): string => urls.map((url) => `${flags.name}=${url}`).join(',');
  const unadvertised = own.filter((url) => !advertised.includes(url));
  if (unadvertised.length > 0)
    throw bad(
      `--initial-cluster has ${named(unadvertised)} but missing from ` +
        `--initial-advertise-peer-urls=${advertised.join(',')}; give both the same URLs`,
    );
  const unnamed = advertised.filter((url) => !own.includes(url));
  if (unnamed.length > 0)
    throw bad(
      `--initial-advertise-peer-urls has ${unnamed.join(',')} but missing from ` +
        `--initial-cluster=${named(own)}; give both the same URLs`,
    );
};

/**
 * The cluster that the flags describe, the same on every first member. Throws BadCluster, one line that
 * names the flags, when they contradict each other.
 */
export const planCluster = (flags: ClusterFlags): ClusterPlan => {
  const plan = namedCluster(flags);
  assertAdvertised(flags, plan.members.find(({ id }) => id === plan.localId)?.peerURLs ?? []);
  return plan;
};

/** The members that --initial-cluster names, whatever this one advertises. */
export const namedCluster = (flags: ClusterFlags): ClusterPlan => {
  const urlsByName = parseInitialCluster(flags.initialCluster);
  const own = urlsByName.get(flags.name);
  if (own === undefined) {
    throw bad(`couldn't find local name "${flags.name}" in the initial cluster configuration`);
  }
  const all = [...urlsByName.values()].flat();
  if (new Set(all).size !== all.length)
    throw bad(`initial cluster ${flags.initialCluster} has duplicate url`);
  const members = [...urlsByName].map(([name, peerURLs]) => ({
    id: memberIdOf(peerURLs, flags.initialClusterToken),
    name,
    peerURLs,
    clientURLs: [],
    isLearner: false,
  }));
  return {
    localId: idNamed(members, flags.name),
    clusterId: clusterIdOf(idsOf(members)),
    members: byId(members),
  };
};

/**
 * For `--initial-cluster-state=existing`: the plan with the ids that the running cluster gave its members,
 * recognised by their peer URLs. Every member must be on both sides, this one was added before it starts. What it
 * advertises is not compared: as with etcd, the cluster was told its URLs when it was added.
 */
export const matchExisting = (
  flags: ClusterFlags,
  existing: { readonly clusterId: ClusterId; readonly members: readonly Member[] },
): ClusterPlan => {
  const planned = namedCluster(flags).members;
  const invalid = (why: string): MembershipError =>
    bad(
      `error validating peerURLs ${describeCluster(existing)}: ${why}; add this member to the cluster first, then name ` +
        'every member with its peer URLs in --initial-cluster',
    );
  if (planned.length !== existing.members.length) throw invalid('member count is unequal');
  const key = (member: Member): string => [...member.peerURLs].sort().join();
  const nameByUrls = new Map(planned.map((member) => [key(member), member.name]));
  const members = existing.members.map((member) => {
    const name = nameByUrls.get(key(member));
    if (name === undefined)
      throw invalid(
        `PeerURLs: no match found for existing member (${idText(member.id)}, [${member.peerURLs.join(' ')}])`,
      );
    return { ...member, name };
  });
  return { localId: idNamed(members, flags.name), clusterId: existing.clusterId, members: byId(members) };
};

/** As etcd prints a cluster. */
const describeCluster = (cluster: {
  readonly clusterId: ClusterId;
  readonly members: readonly Member[];
}): string => {
  const members = cluster.members.map(
    ({ id, name, peerURLs, clientURLs, isLearner }) =>
      `&{ID:${idText(id)} RaftAttributes:{PeerURLs:[${peerURLs.join(' ')}] IsLearner:${isLearner}} ` +
      `Attributes:{Name:${name} ClientURLs:[${clientURLs.join(' ')}]}}`,
  );
  return `{ClusterID:${idText(cluster.clusterId)} Members:[${members.join(' ')}] RemovedMemberIDs:[]}`;
};

const idsOf = (members: readonly Member[]): MemberId[] => members.map((member) => member.id);
const byId = (members: readonly Member[]): Member[] => [...members].sort((a, b) => a.id - b.id);

const idNamed = (members: readonly Member[], name: string): MemberId => {
  const found = members.find((member) => member.name === name);
  if (found === undefined) throw bad(`couldn't find local name "${name}" among the members of the cluster`);
  return found.id;
};
