import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { clusterRef } from './kube.ts';
import { snapshotFile } from './operations.ts';

const KEY_CHARACTERS_MAX = 2048;
const PATH_CHARACTERS_MAX = 4096;
export const HISTORY_ROWS_MAX = 2000;
export const HISTORY_KINDS_MAX = 2000;
export const HISTORY_KEYS_MAX = 1000;
export const RESTORED_TOLD_MAX = 2000;

const text = v.pipe(v.string(), v.maxLength(512));
const storageKey = v.pipe(v.string(), v.maxLength(KEY_CHARACTERS_MAX), v.startsWith('/registry/'));
const revision = v.pipe(v.number(), v.integer(), v.minValue(1));
const json = v.record(v.string(), v.unknown());

/** When: now, at a revision that etcd still has, or as a snapshot file has it, then or earlier. */
export const moment = v.variant('kind', [
  v.object({ kind: v.literal('now') }),
  v.object({ kind: v.literal('revision'), revision }),
  v.object({
    kind: v.literal('snapshot'),
    file: v.pipe(v.string(), v.maxLength(PATH_CHARACTERS_MAX)),
    revision: v.nullable(revision),
  }),
]);
export type Moment = v.InferOutput<typeof moment>;

export const momentOf = v.object({ cluster: clusterRef, at: moment });

const place = {
  group: v.string(),
  plural: v.string(),
  /** Empty for custom resources until an object is read. */
  kind: v.string(),
  namespaced: v.boolean(),
};

/** What was stored at a moment, by resource. */
export const historyContents = v.object({
  revision: v.number(),
  rows: v.pipe(v.array(v.object({ ...place, count: v.number() })), v.maxLength(HISTORY_KINDS_MAX)),
  namespaces: v.array(v.object({ name: v.string(), count: v.number() })),
});
export type HistoryContents = v.InferOutput<typeof historyContents>;

export const historyQuery = v.object({
  cluster: clusterRef,
  at: moment,
  group: text,
  plural: text,
  /** Empty: all of them. */
  namespace: text,
  /** A part of the name; empty: every name. */
  filter: text,
});

const storedPlace = { key: v.string(), ...place, namespace: v.string(), name: v.string() };

export const historyList = v.object({
  revision: v.number(),
  rows: v.pipe(v.array(v.object({ ...storedPlace, modRevision: v.number() })), v.maxLength(HISTORY_ROWS_MAX)),
  total: v.number(),
});
export type HistoryList = v.InferOutput<typeof historyList>;

export const historyObjectQuery = v.object({ cluster: clusterRef, at: moment, key: storageKey });

export const historyObject = v.object({
  /** False: there was no such object at that moment. */
  exists: v.boolean(),
  modRevision: v.number(),
  createRevision: v.number(),
  version: v.number(),
  object: v.nullable(json),
  /** Why it cannot be read: encrypted with another key, an unknown encoding, damaged. */
  problem: v.nullable(said),
});
export type HistoryObject = v.InferOutput<typeof historyObject>;

export const historyCompareQuery = v.object({
  cluster: clusterRef,
  from: moment,
  to: moment,
  /** Null: of everything. */
  resource: v.nullable(v.object({ group: text, plural: text })),
  namespace: text,
});

export const historyComparison = v.object({
  fromRevision: v.number(),
  toRevision: v.number(),
  objects: v.pipe(
    v.array(v.object({ ...storedPlace, change: v.picklist(['added', 'removed', 'changed', 'status']) })),
    v.maxLength(HISTORY_ROWS_MAX),
  ),
  counts: v.object({ added: v.number(), removed: v.number(), changed: v.number(), status: v.number() }),
  same: v.number(),
  unreadable: v.number(),
  isCut: v.boolean(),
});
export type HistoryComparison = v.InferOutput<typeof historyComparison>;

export const historySelection = v.variant('kind', [
  v.object({ kind: v.literal('objects'), keys: v.pipe(v.array(storageKey), v.maxLength(HISTORY_KEYS_MAX)) }),
  v.object({ kind: v.literal('namespace'), namespace: v.pipe(text, v.minLength(1)) }),
  v.object({ kind: v.literal('all') }),
]);
export type HistorySelection = v.InferOutput<typeof historySelection>;

export const restoredObject = v.object({
  key: v.string(),
  kind: v.string(),
  namespace: v.string(),
  name: v.string(),
  outcome: v.picklist(['created', 'replaced', 'unchanged', 'skipped', 'failed']),
  /** Why it was skipped or failed. */
  message: v.nullable(said),
  warnings: v.array(said),
  /** Before and after, where one object is restored. */
  live: v.nullable(json),
  result: v.nullable(json),
});
export type RestoredObject = v.InferOutput<typeof restoredObject>;

export const restoreRequest = v.object({
  cluster: clusterRef,
  at: moment,
  selection: historySelection,
  dryRun: v.boolean(),
});

const restoreCounts = v.object({
  created: v.number(),
  replaced: v.number(),
  unchanged: v.number(),
  skipped: v.number(),
  failed: v.number(),
});

export const restoreReport = v.object({
  counts: restoreCounts,
  /** What was done, failures first; unchanged objects are only counted. */
  objects: v.pipe(v.array(restoredObject), v.maxLength(RESTORED_TOLD_MAX)),
});
export type RestoreReport = v.InferOutput<typeof restoreReport>;

/** How far a restore has come: so many of the chosen objects, with what became of them. The last one has the report. */
export const restoreStep = v.object({
  total: v.number(),
  counts: restoreCounts,
  report: v.nullable(restoreReport),
});
export type RestoreStep = v.InferOutput<typeof restoreStep>;

/** A revision and when it was written, as the Leases of components tell. */
const historySample = v.object({ revision: v.number(), atMs: v.number() });
export type HistorySample = v.InferOutput<typeof historySample>;

/** How far back a cluster can be read. */
export const historyMoments = v.object({
  /** What etcd has not compacted; zero where its etcd is not accessible, and `problem` says why. */
  oldest: v.number(),
  newest: v.number(),
  samples: v.array(historySample),
  snapshots: v.array(snapshotFile),
  problem: v.nullable(said),
});
export type HistoryMoments = v.InferOutput<typeof historyMoments>;

export const historyVersionsQuery = v.object({ cluster: clusterRef, key: storageKey });

export const historyVersion = v.object({
  at: moment,
  revision: v.number(),
  isDeleted: v.boolean(),
  /** When, and how that is known. */
  atMs: v.nullable(v.number()),
  timeFrom: v.picklist(['audit', 'managedFields', 'leases', 'none']),
  /** Field manager, as managedFields say; empty: unknown. */
  manager: v.string(),
  /** Update, Apply, or a subresource such as status. */
  operation: v.string(),
  /** Who sent the request, as the audit log says; empty: not recorded. */
  user: v.string(),
  verb: v.string(),
  auditId: v.string(),
});
export type HistoryVersion = v.InferOutput<typeof historyVersion>;

export const historyVersions = v.object({
  /** Newest first. */
  versions: v.array(historyVersion),
  isCut: v.boolean(),
  oldestRevision: v.number(),
  /** How far back the audit log was searched; null: nothing is recorded. */
  auditFromMs: v.nullable(v.number()),
  hasAudit: v.boolean(),
});
export type HistoryVersions = v.InferOutput<typeof historyVersions>;
