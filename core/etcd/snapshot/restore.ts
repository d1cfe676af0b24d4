import { compareBytes } from './bolt/format.ts';
import type { KeyValue } from './bolt/reader.ts';
import { failure } from './failure.ts';
import {
  ETCD_BUCKETS,
  META_KEYS,
  decodeRevisionKey,
  encodeConfState,
  encodeMember,
  encodeRevisionKey,
  encodeUint64,
  memberKey,
  type EtcdBucket,
  type SnapshotMember,
} from './schema.ts';
import type { Snapshot } from './snapshot-file.ts';

/** What etcd's disaster recovery guide recommends: more than any cluster writes in the life of a backup. */
export const BUMP_REVISION_DEFAULT = 1_000_000_000;

export interface RestoreOptions {
  /** The members of the new cluster; every one of them is restored from the same snapshot. */
  readonly members: readonly SnapshotMember[];
  /** Do not ask for the sha256 trailer (required for a database copied from a data folder). */
  readonly skipHashCheck?: boolean;
  /** How far the newest revision is moved on; 0 keeps revisions, then `markCompacted` must be false. */
  readonly bumpRevision?: number;
  /** Everything up to the moved revision counts as compacted, so that every old watch has to list again. */
  readonly markCompacted?: boolean;
  /** Raft index that the new log starts after; by default one entry per member adds it. */
  readonly consistentIndex?: number;
  readonly term?: number;
}

/** Membership of the cluster that is gone, and alarms that its members raised: they are raised again if still due. */
const DROPPED_BUCKETS: ReadonlySet<EtcdBucket> = new Set(['alarm', 'members', 'members_removed']);
const EMPTY = Buffer.alloc(0);

/** What the backend's bulk loader takes. */
export interface RestoredEntry extends KeyValue {
  readonly bucket: EtcdBucket;
}

interface Resolved {
  readonly members: readonly SnapshotMember[];
  readonly bumpRevision: number;
  readonly index: number;
  readonly term: number;
}

const resolve = (options: RestoreOptions): Resolved => {
  const { members, bumpRevision = BUMP_REVISION_DEFAULT, markCompacted = bumpRevision > 0 } = options;
  if (members.length === 0) throw failure('InvalidOptions', 'a restored cluster needs at least one member');
  if (new Set(members.map(({ id }) => id)).size !== members.length) {
    throw failure('InvalidOptions', 'two members have the same id; give them different peer URLs');
  }
  if (!Number.isSafeInteger(bumpRevision) || bumpRevision < 0) {
    throw failure(
      'InvalidOptions',
      `--bump-revision must be a whole number of 0 or more, not ${bumpRevision}`,
    );
  }
  if (markCompacted !== bumpRevision > 0) {
    throw failure(
      'InvalidOptions',
      '--mark-compacted required if --bump-revision > 0, and not allowed otherwise',
    );
  }
  return {
    members,
    bumpRevision,
    index: options.consistentIndex ?? members.length,
    term: options.term ?? 1,
  };
};

const compactedRevision = async (snapshot: Snapshot, name: string): Promise<number> => {
  const value = await snapshot.get('meta', Buffer.from(name));
  return value === undefined ? 0 : decodeRevisionKey(value, `meta ${name}`).main;
};

const byKey = (a: KeyValue, b: KeyValue): number => compareBytes(a.key, b.key);

/**
 * The backend of a new member: what etcdutl's `snapshot restore --bump-revision --mark-compacted` leaves behind,
 * as a stream grouped by bucket and sorted within each. The hash is verified before the first entry comes out.
 *
 * Revisions move as etcdutl moves them: one entry with an empty value at the bumped revision, and a compaction
 * scheduled there, which the store finds and runs when it opens.
 */
export async function* restoreEntries(
  snapshot: Snapshot,
  options: RestoreOptions,
): AsyncGenerator<RestoredEntry> {
  const { members, bumpRevision, index, term } = resolve(options);
  if (options.skipHashCheck !== true) await snapshot.verifyHash();

  // Compaction may have removed the newest revisions altogether (all of them tombstones).
  let newest = Math.max(
    await compactedRevision(snapshot, META_KEYS.finishedCompact),
    await compactedRevision(snapshot, META_KEYS.scheduledCompact),
  );
  const present = new Set(await snapshot.buckets());

  if (present.has('key')) {
    for await (const { key, value } of snapshot.entries('key')) {
      newest = Math.max(newest, decodeRevisionKey(key).main);
      yield { bucket: 'key', key, value };
    }
  }
  const bumped = { main: newest + bumpRevision, sub: 0 };
  if (!Number.isSafeInteger(bumped.main)) {
    throw failure('InvalidOptions', `revision ${newest} cannot be moved on by ${bumpRevision}`);
  }
  if (bumpRevision > 0) yield { bucket: 'key', key: encodeRevisionKey(bumped), value: EMPTY };

  for (const bucket of ETCD_BUCKETS) {
    if (bucket === 'key' || bucket === 'meta' || DROPPED_BUCKETS.has(bucket) || !present.has(bucket))
      continue;
    for await (const { key, value } of snapshot.entries(bucket)) yield { bucket, key, value };
  }
  const rows = members.map((member) => ({ key: memberKey(member.id), value: encodeMember(member) }));
  for (const row of rows.sort(byKey)) yield { bucket: 'members', ...row };

  const meta = new Map<string, Buffer>();
  if (present.has('meta')) {
    for await (const { key, value } of snapshot.entries('meta')) meta.set(key.toString('latin1'), value);
  }
  meta.set(META_KEYS.consistentIndex, encodeUint64(index));
  meta.set(META_KEYS.term, encodeUint64(term));
  // Voters of the old cluster mean nothing in the new one.
  meta.set(META_KEYS.confState, encodeConfState(members));
  if (bumpRevision > 0) meta.set(META_KEYS.scheduledCompact, encodeRevisionKey(bumped));
  const metaRows = [...meta].map(([name, value]) => ({ key: Buffer.from(name, 'latin1'), value }));
  for (const row of metaRows.sort(byKey)) yield { bucket: 'meta', ...row };
}
