import * as v from 'valibot';
import { clusterAction } from '../actions/actions.ts';
import { said } from '../sentences/said.ts';

export const MEMBERS_MAX = 15;
export const TIMELINE_EVENTS_MAX = 500;
/** What etcd's own guide asks of a disk: the 99th percentile of a WAL fsync is at most this. */
export const FSYNC_RECOMMENDED_MS = 10;
/** The interval of heartbeats: above it, a member that waits for its disk misses them, and elections follow. */
export const FSYNC_MISSES_HEARTBEATS_MS = 100;

export const etcdMember = v.object({
  /** Hexadecimal, as `etcdctl member list` prints it. */
  id: v.string(),
  name: v.string(),
  /** The host it runs on; empty where it is not ours. */
  host: v.string(),
  clientUrl: v.string(),
  role: v.picklist(['leader', 'follower', 'learner', 'unreachable']),
  version: v.string(),
  raftTerm: v.number(),
  raftIndex: v.number(),
  raftAppliedIndex: v.number(),
  /** Entries behind the leader. */
  lag: v.number(),
  revision: v.number(),
  dbBytes: v.number(),
  dbBytesInUse: v.number(),
  quotaBytes: v.nullable(v.number()),
  alarms: v.array(v.string()),
  /** Of its WAL in the last half minute; null without metrics. */
  fsyncP99Ms: v.nullable(v.number()),
  /** From the leader to this member; null for the leader itself. */
  peerRoundTripMs: v.nullable(v.number()),
  proposalsFailed: v.nullable(v.number()),
  /** Why it is unreachable; null while it answers. */
  problem: v.nullable(said),
});
export type EtcdMember = v.InferOutput<typeof etcdMember>;

export const etcdView = v.object({
  atMs: v.number(),
  members: v.pipe(v.array(etcdMember), v.maxLength(MEMBERS_MAX)),
  /** Why nothing is known; null while at least one member answers. */
  problem: v.nullable(said),
});
export type EtcdView = v.InferOutput<typeof etcdView>;

/** What happened to the quorum, as the host saw it while it looked. */
export const etcdEvent = v.object({
  atMs: v.number(),
  kind: v.picklist([
    'leader',
    'leaderLost',
    'memberUp',
    'memberDown',
    'memberAdded',
    'memberRemoved',
    'alarm',
    'alarmOver',
  ]),
  member: v.string(),
  term: v.number(),
  /** From the loss of the leader to the next one; null where it was not seen. */
  durationMs: v.nullable(v.number()),
});
export type EtcdEvent = v.InferOutput<typeof etcdEvent>;

export const snapshotFile = v.object({
  file: v.string(),
  name: v.string(),
  bytes: v.number(),
  createdAtMs: v.number(),
  revision: v.number(),
  keys: v.number(),
  hash: v.string(),
  /** Made by the schedule, and so deleted by its retention. */
  isScheduled: v.boolean(),
  /** Why it cannot be restored; null when every page was checked. */
  problem: v.nullable(said),
});
export type SnapshotFile = v.InferOutput<typeof snapshotFile>;

export const backupSchedule = v.object({
  enabled: v.boolean(),
  everyMinutes: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(10_080)),
  keep: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)),
  /** An absolute path on another disk or machine; absent: `backups/` in the data directory. */
  directory: v.optional(v.pipe(v.string(), v.maxLength(4096))),
});
export type BackupSchedule = v.InferOutput<typeof backupSchedule>;

export const backups = v.object({
  directory: v.string(),
  files: v.array(snapshotFile),
  schedule: backupSchedule,
  nextAtMs: v.nullable(v.number()),
});
export type Backups = v.InferOutput<typeof backups>;

/** What a restore would change: the objects of the snapshot beside those of now, by resource. */
export const snapshotComparison = v.object({
  file: snapshotFile,
  revisionNow: v.number(),
  rows: v.array(
    v.object({
      /** `pods`, `apps/deployments`: as below /registry. */
      resource: v.string(),
      now: v.number(),
      inSnapshot: v.number(),
      /** The first few that come back or go, `namespace/name`. */
      comesBack: v.array(v.string()),
      goes: v.array(v.string()),
    }),
  ),
});
export type SnapshotComparison = v.InferOutput<typeof snapshotComparison>;

export const finding = v.object({
  /** Its title is `check.<id>`. */
  id: v.string(),
  verdict: v.picklist(['ok', 'warning', 'problem', 'absent']),
  /** What was measured. */
  message: said,
  /** What speaks for it, where a cause was looked for. */
  evidence: v.optional(v.array(said)),
  /** What to do; null where nothing is to be done. */
  advice: v.nullable(said),
  /** What the console can do about it. */
  fix: v.optional(
    v.variant('kind', [
      v.object({ kind: v.literal('action'), action: clusterAction }),
      /** A page of the console where it is set. */
      v.object({ kind: v.literal('page'), path: v.string() }),
    ]),
  ),
});
export type Finding = v.InferOutput<typeof finding>;

export const upgradePlan = v.object({
  current: v.string(),
  targets: v.array(v.string()),
  /** What each host runs: mixed while an upgrade is in progress. */
  hosts: v.array(v.object({ host: v.string(), components: v.record(v.string(), v.string()) })),
  nodes: v.array(v.object({ node: v.string(), version: v.string() })),
  checks: v.array(finding),
  /** Stored objects of versions that the target does not serve. */
  removals: v.array(v.object({ resource: v.string(), version: v.string(), count: v.number() })),
  steps: v.array(v.object({ id: v.string(), title: said })),
  /** An upgrade that was begun and not ended: where it goes to. */
  unfinished: v.nullable(v.string()),
  /** The release before the last upgrade, which has ended and can be rolled back. */
  previous: v.nullable(v.string()),
});
export type UpgradePlan = v.InferOutput<typeof upgradePlan>;

export const certificateView = v.object({
  /** As `pilothouse certs check-expiration` prints it. */
  name: v.string(),
  path: v.string(),
  kind: v.picklist(['authority', 'files', 'kubeconfig']),
  /** Who signed it; empty when it is none of the cluster's authorities. */
  authority: v.string(),
  subject: v.string(),
  organizations: v.array(v.string()),
  alternativeNames: v.array(v.string()),
  usages: v.array(v.string()),
  serial: v.string(),
  algorithm: v.string(),
  fingerprint: v.string(),
  notBeforeMs: v.number(),
  notAfterMs: v.number(),
  /** What a server presents now; null where no one serves it or the server is down. */
  served: v.nullable(v.object({ address: v.string(), serial: v.string(), notAfterMs: v.number() })),
});
export type CertificateView = v.InferOutput<typeof certificateView>;
