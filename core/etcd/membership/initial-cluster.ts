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

/**
 * The cluster that the flags describe, the same on every first member. Throws BadCluster, one line that
 * names the flags, when they contradict each other.
 */
export const planCluster = (flags: ClusterFlags): ClusterPlan => {
  const urlsByName = parseInitialCluster(flags.initialCluster);
  const own = urlsByName.get(flags.name);
  if (own === undefined) {
    throw bad(`couldn't find local name "${flags.name}" in the initial cluster configuration`);
  }
  const all = [...urlsByName.values()].flat();
  if (new Set(all).size !== all.length)
    throw bad(`initial cluster ${flags.initialCluster} has duplicate url`);
  const advertised = checkMemberUrls(flags.advertisePeerUrls);
  const describe = (urls: readonly string[]): string => urls.map((url) => `${flags.name}=${url}`).join(',');
  if (own.join() !== advertised.join()) {
    throw bad(
      `--initial-cluster has ${describe(own)} but --initial-advertise-peer-urls has ${describe(advertised)}; ` +
        'give both the same URLs',
    );
  }
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
 * recognised by their peer URLs. Every member must be on both sides, this one was added before it starts.
 */
export const matchExisting = (
  flags: ClusterFlags,
  existing: { readonly clusterId: ClusterId; readonly members: readonly Member[] },
): ClusterPlan => {
  const planned = planCluster(flags).members;
  if (planned.length !== existing.members.length) {
    throw bad(
      `--initial-cluster names ${planned.length} members and the running cluster has ${existing.members.length}: ` +
        'member count is unequal; add this member first, then name all of them',
    );
  }
  const key = (member: Member): string => [...member.peerURLs].sort().join();
  const nameByUrls = new Map(planned.map((member) => [key(member), member.name]));
  const members = existing.members.map((member) => {
    const name = nameByUrls.get(key(member));
    if (name === undefined) {
      throw bad(
        `PeerURLs: no match found for existing member (${idText(member.id)}, [${member.peerURLs.join(' ')}]) ` +
          'in --initial-cluster',
      );
    }
    return { ...member, name };
  });
  return { localId: idNamed(members, flags.name), clusterId: existing.clusterId, members: byId(members) };
};

const idsOf = (members: readonly Member[]): MemberId[] => members.map((member) => member.id);
const byId = (members: readonly Member[]): Member[] => [...members].sort((a, b) => a.id - b.id);

const idNamed = (members: readonly Member[], name: string): MemberId => {
  const found = members.find((member) => member.name === name);
  if (found === undefined) throw bad(`couldn't find local name "${name}" among the members of the cluster`);
  return found.id;
};
