import { say, saidOf, type Said } from '../../contract/index.ts';
import { PERMISSION_TYPE, type Permission } from '../../etcd/proto/index.ts';
import { OPERATOR } from './methods.ts';
import { listMembers, withAny, withMember, type EtcdAccess, type MemberView } from './operations.ts';

/** What one member's keys hash to at the revision that all were asked for. */
export interface MemberHash {
  readonly id: string;
  readonly name: string;
  readonly hash: number | undefined;
  readonly compactRevision: number | undefined;
  /** Why it could not be compared. */
  readonly problem: Said | undefined;
}

export interface HashComparison {
  /** 0 where no member answered. */
  readonly revision: number;
  readonly members: readonly MemberHash[];
  readonly verdict: HashVerdict;
}

/** `unverified`: hashes agree as far as they can be compared, but not every member could be asked. */
export type HashVerdict = 'equal' | 'different' | 'unverified';

/** Hashes of different compactions say nothing about each other. */
export const verdictOf = (members: readonly MemberHash[]): HashVerdict => {
  const byCompaction = new Map<number, Set<number>>();
  for (const { hash, compactRevision } of members)
    if (hash !== undefined && compactRevision !== undefined)
      byCompaction.set(compactRevision, (byCompaction.get(compactRevision) ?? new Set()).add(hash));
  if ([...byCompaction.values()].some((hashes) => hashes.size > 1)) return 'different';
  const isEveryoneCompared = byCompaction.size === 1 && members.every(({ hash }) => hash !== undefined);
  return isEveryoneCompared ? 'equal' : 'unverified';
};

/** Hashes the keys of every member at one revision that all of them have. */
export const compareHashes = async (access: EtcdAccess): Promise<HashComparison> => {
  const members = (await listMembers(access)).toSorted((a, b) => a.name.localeCompare(b.name));
  const revision = Math.min(...members.flatMap(({ status }) => (status ? [status.revision] : [])));
  const hashes = await Promise.all(members.map((member) => hashOf(access, member, revision)));
  return { revision: Number.isFinite(revision) ? revision : 0, members: hashes, verdict: verdictOf(hashes) };
};

const hashOf = async (access: EtcdAccess, member: MemberView, revision: number): Promise<MemberHash> => {
  const { id, name, status } = member;
  const unknown = { id, name, hash: undefined, compactRevision: undefined };
  if (status === undefined) return { ...unknown, problem: member.problem ?? say('failure.etcd.notStarted') };
  try {
    const { hash, compactRevision } = await withMember(member.clientUrls[0]!, access, (one) =>
      one.call(OPERATOR.hashKv, { revision }),
    );
    return { id, name, hash, compactRevision, problem: undefined };
  } catch (error) {
    return { ...unknown, problem: saidOf(error) };
  }
};

export interface KeyPermission {
  readonly type: 'read' | 'write' | 'readwrite';
  readonly key: string;
  /** Empty: this key alone. */
  readonly rangeEnd: string;
}

export interface AuthView {
  readonly isEnabled: boolean;
  readonly revision: number;
  readonly users: readonly { readonly name: string; readonly roles: readonly string[] }[];
  readonly roles: readonly { readonly name: string; readonly permissions: readonly KeyPermission[] }[];
}

/** More than a person reads; etcd has no limit. */
const NAMES_MAX = 500;
const KEY_CHARACTERS_MAX = 512;

const shown = (bytes: Uint8Array): string => Buffer.from(bytes).toString().slice(0, KEY_CHARACTERS_MAX);

const permissionOf = ({ permType, key, rangeEnd }: Permission): KeyPermission => ({
  type:
    permType === PERMISSION_TYPE.READ ? 'read' : permType === PERMISSION_TYPE.WRITE ? 'write' : 'readwrite',
  key: shown(key),
  rangeEnd: shown(rangeEnd),
});

/** The users and roles of etcd's own auth. */
export const readAuth = (access: EtcdAccess): Promise<AuthView> =>
  withAny(access, async (member) => {
    const { enabled, authRevision } = await member.call(OPERATOR.authStatus, {});
    const { users } = await member.call(OPERATOR.userList, {});
    const { roles } = await member.call(OPERATOR.roleList, {});
    return {
      isEnabled: enabled,
      revision: authRevision,
      users: await Promise.all(
        users.slice(0, NAMES_MAX).map(async (name) => ({
          name,
          roles: (await member.call(OPERATOR.userGet, { name })).roles,
        })),
      ),
      roles: await Promise.all(
        roles.slice(0, NAMES_MAX).map(async (name) => ({
          name,
          permissions: (await member.call(OPERATOR.roleGet, { role: name })).perm.map(permissionOf),
        })),
      ),
    };
  });

/** One who holds or waits for a lock, or leads or stands in an election. */
export interface Claim {
  readonly key: string;
  readonly lease: string;
  readonly ttlSeconds: number;
  readonly createRevision: number;
  /** What a candidate proclaims; empty for a lock. */
  readonly value: string;
}

/** Keys of one name in the order in which they came: the first holds it. */
export interface WaitingLine {
  readonly name: string;
  readonly kind: 'lock' | 'election';
  readonly claims: readonly Claim[];
}

const LEASES_MAX = 1000;
const VALUE_CHARACTERS_MAX = 256;

/** etcd's lock and election recipes: a key is the name, a slash and the id of its lease. */
export const isClaim = (key: string, lease: bigint): boolean => key.endsWith(`/${lease.toString(16)}`);

export const waitingLines = (claims: readonly Claim[]): WaitingLine[] => {
  const byName = new Map<string, Claim[]>();
  for (const claim of claims) {
    const name = claim.key.slice(0, claim.key.lastIndexOf('/'));
    byName.set(name, [...(byName.get(name) ?? []), claim]);
  }
  return [...byName]
    .map(([name, line]): WaitingLine => ({
      name,
      kind: line.some(({ value }) => value !== '') ? 'election' : 'lock',
      claims: line.sort((a, b) => a.createRevision - b.createRevision),
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Who holds and who waits, by the leases: keys are not searched. */
export const readLocks = (access: EtcdAccess): Promise<WaitingLine[]> =>
  withAny(access, async (member) => {
    const { leases } = await member.call(OPERATOR.leases, {});
    const claims: Claim[] = [];
    for (const { ID: lease } of leases.slice(0, LEASES_MAX)) {
      const { keys, TTL } = await member.call(OPERATOR.timeToLive, { ID: lease, keys: true });
      for (const key of keys) {
        const text = Buffer.from(key).toString();
        if (!isClaim(text, lease)) continue;
        const { kvs } = await member.call(OPERATOR.range, { key });
        if (kvs[0] === undefined) continue;
        claims.push({
          key: text.slice(0, KEY_CHARACTERS_MAX),
          lease: lease.toString(16),
          ttlSeconds: TTL,
          createRevision: kvs[0].createRevision,
          value: Buffer.from(kvs[0].value).toString().slice(0, VALUE_CHARACTERS_MAX),
        });
      }
    }
    return waitingLines(claims);
  });
