import { assert, unreachable } from '../../base/assert.ts';
import { configurationOf } from '../../raft/configuration.ts';
import type { Configuration, MemberId } from '../../raft/types.ts';
import {
  CLUSTER_VERSION_KEY,
  decodeMember,
  decodeRemoved,
  decodeText,
  encodeMember,
  memberKey,
  removedValue,
  textBytes,
} from './rows.ts';
import {
  refusal,
  type Member,
  type MembershipChange,
  type MembershipError,
  type MembershipRows,
  type MembershipState,
} from './types.ts';

/** etcd's default of `--max-learners`. */
export const LEARNERS_MAX = 1;

export interface MembershipOptions {
  readonly rows: MembershipRows;
  readonly learnersMax?: number;
}

/**
 * The members as of the last applied entry. Every change writes its rows, inside the transaction of the
 * entry that it comes from.
 */
export class Membership {
  readonly #options: MembershipOptions;
  readonly #learnersMax: number;
  readonly #members = new Map<MemberId, Member>();
  readonly #removed = new Set<MemberId>();
  #clusterVersion: string | undefined;

  constructor(options: MembershipOptions) {
    this.#options = options;
    this.#learnersMax = options.learnersMax ?? LEARNERS_MAX;
  }

  /** Sorted by id. */
  get members(): Member[] {
    return [...this.#members.values()].sort((a, b) => a.id - b.id);
  }

  get removedIds(): MemberId[] {
    return [...this.#removed].sort((a, b) => a - b);
  }

  /** "3.5.0"; undefined until the members have agreed on one. */
  get clusterVersion(): string | undefined {
    return this.#clusterVersion;
  }

  get configuration(): Configuration {
    const ids = (isLearner: boolean): MemberId[] =>
      this.members.filter((member) => member.isLearner === isLearner).map((member) => member.id);
    return configurationOf(ids(false), ids(true));
  }

  member(id: MemberId): Member | undefined {
    return this.#members.get(id);
  }

  isRemoved(id: MemberId): boolean {
    return this.#removed.has(id);
  }

  /** Why the change cannot be made to the members as they are now, or undefined. */
  validate(change: MembershipChange): MembershipError | undefined {
    switch (change.kind) {
      case 'bootstrap':
        return this.#members.size === 0 ? undefined : refusal('IDExists');
      case 'add':
        return this.#refuseAdding(change.member);
      case 'promote': {
        const known = this.#refuseUnknown(change.id);
        if (known !== undefined) return known;
        return this.#members.get(change.id)?.isLearner === true ? undefined : refusal('MemberNotLearner');
      }
      case 'update':
        return this.#refuseUnknown(change.id) ?? this.#refuseUrls(change.peerURLs, change.id);
      case 'remove':
        return this.#refuseUnknown(change.id);
      default:
        return unreachable(change, 'membership change');
    }
  }

  /**
   * For a `config` entry that is applied: throws what `validate` says, and then nothing has changed. True
   * when Raft's configuration changes too, so that `RaftCore.applyConfiguration` is due.
   */
  apply(change: MembershipChange): boolean {
    const refused = this.validate(change);
    if (refused !== undefined) throw refused;
    switch (change.kind) {
      case 'bootstrap':
        for (const member of change.members) this.#save(member);
        return true;
      case 'add':
        this.#save(change.member);
        return true;
      case 'promote':
        this.#save({ ...this.#require(change.id), isLearner: false });
        return true;
      case 'update':
        this.#save({ ...this.#require(change.id), peerURLs: change.peerURLs });
        return false;
      case 'remove':
        this.#remove(change.id);
        return true;
      default:
        return unreachable(change, 'membership change');
    }
  }

  /** What a member says of itself once it runs. Of a member removed meanwhile it is ignored. */
  setAttributes(id: MemberId, attributes: Pick<Member, 'name' | 'clientURLs'>): void {
    const member = this.#members.get(id);
    if (member === undefined) return;
    this.#save({ ...member, name: attributes.name, clientURLs: attributes.clientURLs });
  }

  setClusterVersion(version: string): void {
    this.#clusterVersion = version;
    this.#options.rows.put('cluster', textBytes(CLUSTER_VERSION_KEY), textBytes(version));
  }

  /** Forgets everything and takes what the backend holds. Throws Malformed. */
  recover(state: MembershipState): void {
    const members = [...state.members].map(decodeMember);
    const removed = [...state.removed].map(decodeRemoved);
    const version = [...state.cluster].find(({ key }) => decodeText(key) === CLUSTER_VERSION_KEY);
    this.#members.clear();
    this.#removed.clear();
    for (const member of members) this.#members.set(member.id, member);
    for (const id of removed) this.#removed.add(id);
    this.#clusterVersion = version === undefined ? undefined : decodeText(version.value);
  }

  #refuseUnknown(id: MemberId): MembershipError | undefined {
    if (this.#removed.has(id)) return refusal('IDRemoved');
    return this.#members.has(id) ? undefined : refusal('IDNotFound');
  }

  #refuseAdding(member: Member): MembershipError | undefined {
    if (this.#removed.has(member.id)) return refusal('IDRemoved');
    if (this.#members.has(member.id)) return refusal('IDExists');
    const learnersCount = this.members.filter(({ isLearner }) => isLearner).length;
    return (
      this.#refuseUrls(member.peerURLs) ??
      (member.isLearner && learnersCount >= this.#learnersMax ? refusal('TooManyLearners') : undefined)
    );
  }

  #refuseUrls(peerURLs: readonly string[], except?: MemberId): MembershipError | undefined {
    const taken = this.members.filter(({ id }) => id !== except).flatMap((member) => member.peerURLs);
    return peerURLs.some((url) => taken.includes(url)) ? refusal('PeerURLExists') : undefined;
  }

  #require(id: MemberId): Member {
    const member = this.#members.get(id);
    assert(member !== undefined, `member ${id} was validated`);
    return member;
  }

  #save(member: Member): void {
    this.#members.set(member.id, member);
    this.#options.rows.put('members', memberKey(member.id), encodeMember(member));
  }

  #remove(id: MemberId): void {
    this.#members.delete(id);
    this.#removed.add(id);
    this.#options.rows.delete('members', memberKey(id));
    this.#options.rows.put('members_removed', memberKey(id), removedValue());
  }
}
