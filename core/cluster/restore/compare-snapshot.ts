import { say, saidOf, SaidError } from '../../contract/index.ts';
import type { SnapshotComparison } from '../../contract/schemas/operations.ts';
import { decodeRevisionKey, readSnapshot } from '../../etcd/snapshot/index.ts';
import { keyOfKeyValue } from '../../etcd/snapshot/key-value.ts';
import { etcdAccessOf, withAny } from '../etcd-operator/operations.ts';
import { storedObjects } from '../etcd-operator/stored-objects.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { describeSnapshot } from '../backup/list-backups.ts';
import { placeOfKey } from '../backup/registry-key.ts';

/** Names that are shown of each resource; the figures say how many there are. */
const NAMES_MAX = 10;

const REGISTRY = '/registry/';

/** The keys that a snapshot holds at its newest revision, as `snapshot status` counts them. */
export const keysOfSnapshot = async (file: string): Promise<ReadonlySet<string>> => {
  const snapshot = await readSnapshot(file);
  try {
    const live = new Set<string>();
    for await (const { key, value } of snapshot.entries('key')) {
      const { main, isTombstone } = decodeRevisionKey(key);
      const name = keyOfKeyValue(value, main).toString();
      if (isTombstone) live.delete(name);
      else live.add(name);
    }
    return live;
  } finally {
    await snapshot.close();
  }
};

type Row = SnapshotComparison['rows'][number];

/** Sorted by resource; what is the same on both sides is counted too. */
export const compareKeys = (now: ReadonlySet<string>, inSnapshot: ReadonlySet<string>): readonly Row[] => {
  const rows = new Map<string, { now: number; inSnapshot: number; comesBack: string[]; goes: string[] }>();
  const rowOf = (resource: string) => {
    const row = rows.get(resource) ?? { now: 0, inSnapshot: 0, comesBack: [], goes: [] };
    rows.set(resource, row);
    return row;
  };
  const note = (names: string[], name: string): void => {
    if (names.length < NAMES_MAX) names.push(name);
  };
  for (const key of now) {
    const place = placeOfKey(key);
    if (!place) continue;
    const row = rowOf(place.resource);
    row.now += 1;
    if (!inSnapshot.has(key)) note(row.goes, place.name);
  }
  for (const key of inSnapshot) {
    const place = placeOfKey(key);
    if (!place) continue;
    const row = rowOf(place.resource);
    row.inSnapshot += 1;
    if (!now.has(key)) note(row.comesBack, place.name);
  }
  return [...rows]
    .map(([resource, row]) => ({ resource, ...row }))
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
};

/** What a restore would change: the objects of the file beside those of now. Reads keys alone. */
export const compareSnapshot = async (supervisor: Supervisor, file: string): Promise<SnapshotComparison> => {
  const described = await describeSnapshot(file).catch((cause: unknown) => {
    throw new SaidError('NotFound', say('failure.cannotRead', { path: file, why: saidOf(cause) }), { cause });
  });
  if (described.problem !== null)
    throw new SaidError('Damaged', say('failure.about', { what: file, why: described.problem }));
  const inSnapshot = await keysOfSnapshot(file);
  const now = new Set<string>();
  let revisionNow = 0;
  await withAny(etcdAccessOf(supervisor.folder.directory, supervisor.config), async (member) => {
    now.clear();
    const onRevision = (revision: number): void => void (revisionNow = revision);
    for await (const { key } of storedObjects(member, { keysOnly: true, onRevision })) now.add(key);
  });
  const kept = new Set([...inSnapshot].filter((key) => key.startsWith(REGISTRY)));
  return { file: described, revisionNow, rows: [...compareKeys(now, kept)] };
};
