import { DisposableStore, type Disposable } from '../../base/disposable.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { every } from '../../base/every.ts';
import { NOBODY, type MemberId } from '../../raft/types.ts';
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
  /** Of this member and of every peer that could be compared with it. */
  readonly hashes: ReadonlyMap<MemberId, number>;
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
  const hashes = new Map([[member.id, own.hash]]);
  for (const { id, hash } of answers) if (comparable(hash)) hashes.set(id, hash.hash);
  return { revision: own.revision, hashes, unverified: peers.filter((id) => !hashes.has(id)) };
};

/**
 * Who is to be distrusted: those outside of a majority that agrees, which may be this member. Without one it is not known
 * who; as with etcd the alarm then names member 0.
 */
export const suspects = ({ hashes }: Comparison, memberCount: number): readonly MemberId[] => {
  const counts = new Map<number, number>();
  for (const hash of hashes.values()) counts.set(hash, (counts.get(hash) ?? 0) + 1);
  if (counts.size <= 1) return [];
  const majority = Math.floor(memberCount / 2) + 1;
  const trusted = [...counts].find(([, count]) => count >= majority)?.[0];
  if (trusted === undefined) return [NOBODY];
  return [...hashes].filter(([, hash]) => hash !== trusted).map(([id]) => id);
};

const differingFrom = ({ hashes }: Comparison, own: MemberId): MemberId[] =>
  [...hashes].filter(([, hash]) => hash !== hashes.get(own)).map(([id]) => id);

const raise = async (member: Member, comparison: Comparison): Promise<void> => {
  const { membership, alarms } = member.machine;
  for (const id of suspects(comparison, membership.members.length)) {
    if (alarms.list(ALARM_TYPE.CORRUPT).some(({ memberID }) => memberID === BigInt(id))) continue;
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
  const differing = differingFrom(comparison, member.id);
  if (differing.length > 0)
    throw new ReasonError(
      'Corrupt',
      `the keys of this member at revision ${comparison.revision} differ from those of ${differing.map(idText).join(', ')}: ` +
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
