import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { every } from '../../base/every.ts';
import type { MemberId } from '../../raft/types.ts';
import { idText } from '../membership/index.ts';
import { ALARM_ACTION, ALARM_TYPE, AlarmRequest } from '../proto/index.ts';
import type { Member } from './member.ts';
import { decodePeerHash, encodeHashRequest, PEER_HASH_KV, type PeerHash } from './peer-requests.ts';

const ASK_LIMIT_MS = 5000;
/** How often a peer that could not be compared at the start is asked again. */
const RECHECK_MS = 10_000;

/** What one comparison came to. A peer that did not answer is not one that agrees. */
export interface Comparison {
  readonly revision: number;
  readonly agreeing: readonly MemberId[];
  readonly differing: readonly MemberId[];
  readonly unverified: readonly MemberId[];
}

/**
 * Compares this member's keys at one revision with those of its peers. Hashes of different compactions say
 * nothing about each other, so such a peer counts as unverified.
 */
export const compareWithPeers = async (member: Member, revision: number): Promise<Comparison> => {
  const { store, membership } = member.machine;
  const own = await store.hashKv(revision);
  const peers = membership.members.map(({ id }) => id).filter((id) => id !== member.id);
  const answers = await Promise.all(
    peers.map(async (id): Promise<{ id: MemberId; hash: PeerHash | undefined }> => {
      try {
        const payload = encodeHashRequest(own.revision);
        const bytes = await member.transport.request(id, PEER_HASH_KV, payload, { timeoutMs: ASK_LIMIT_MS });
        return { id, hash: decodePeerHash(bytes) };
      } catch (error) {
        member.ports.log.write('warn', 'peer could not be compared for corruption', {
          'peer-id': idText(id),
          revision: own.revision,
          error: messageOf(error),
        });
        return { id, hash: undefined };
      }
    }),
  );
  const comparable = (hash: PeerHash | undefined): hash is PeerHash =>
    hash !== undefined && hash.compactRevision === own.compactRevision;
  const idsWhere = (accept: (hash: PeerHash | undefined) => boolean): MemberId[] =>
    answers.filter(({ hash }) => accept(hash)).map(({ id }) => id);
  return {
    revision: own.revision,
    agreeing: idsWhere((hash) => comparable(hash) && hash.hash === own.hash),
    differing: idsWhere((hash) => comparable(hash) && hash.hash !== own.hash),
    unverified: idsWhere((hash) => !comparable(hash)),
  };
};

/** Who is to be distrusted: those outside of a majority that agrees; without one, no one can be trusted. */
export const suspects = (comparison: Comparison, memberCount: number, own: MemberId): readonly MemberId[] => {
  const { agreeing, differing } = comparison;
  if (differing.length === 0) return [];
  const majority = Math.floor(memberCount / 2) + 1;
  return agreeing.length + 1 >= majority ? differing : [own, ...agreeing, ...differing];
};

const raise = async (member: Member, comparison: Comparison): Promise<void> => {
  const { membership, alarms } = member.machine;
  for (const id of suspects(comparison, membership.members.length, member.id)) {
    if (alarms.list(ALARM_TYPE.CORRUPT, BigInt(id)).length > 0) continue;
    member.ports.log.write('error', 'found hash mismatch between members', {
      'member-id': idText(id),
      revision: comparison.revision,
    });
    await member.proposals.propose(
      'alarm',
      AlarmRequest.encode({ action: ALARM_ACTION.ACTIVATE, memberID: BigInt(id), alarm: ALARM_TYPE.CORRUPT }),
    );
  }
};

/** Before serving: a member whose keys differ from a peer's does not start. Returns who could not be asked. */
export const checkBeforeServing = async (member: Member): Promise<readonly MemberId[]> => {
  const comparison = await compareWithPeers(member, 0);
  if (comparison.differing.length > 0)
    throw new ReasonError(
      'Corrupt',
      `the keys of this member at revision ${comparison.revision} differ from those of ${comparison.differing.map(idText).join(', ')}: ` +
        'remove this member, delete its data folder and add it again',
    );
  return comparison.unverified;
};

/** Compares in the background: all keys from time to time, compactions as they happen, late peers of the start. */
export const watchCorruption = (member: Member, unverified: readonly MemberId[]): Disposable => {
  const { config, ports, machine } = member;
  const owned = new DisposableStore();
  const compare = async (revision: number): Promise<Comparison | undefined> => {
    if (!member.isLeader) return undefined;
    const comparison = await compareWithPeers(member, revision);
    await raise(member, comparison);
    return comparison;
  };
  if (config.corruptCheckMs > 0)
    owned.add(every(ports.clock, config.corruptCheckMs, async () => void (await compare(0))));
  if (config.gates.CompactHashCheck) {
    let checked = 0;
    owned.add(
      every(ports.clock, config.compactHashCheckMs, async () => {
        const revision = machine.store.compactRevision;
        if (revision <= checked) return;
        const comparison = await compare(revision);
        if (comparison?.unverified.length === 0) checked = revision;
      }),
    );
  }
  if (unverified.length > 0) {
    const again = every(ports.clock, RECHECK_MS, async () => {
      const comparison = await compareWithPeers(member, 0);
      await raise(member, comparison);
      if (comparison.unverified.length === 0) again.dispose();
    });
    owned.add(again);
  }
  return owned;
};
