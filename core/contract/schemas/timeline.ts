import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { severity } from './notification.ts';

/** From what people do down to what follows from it; the order of the page. */
export const TIMELINE_LANES = [
  'operator',
  'faults',
  'processes',
  'etcd',
  'leases',
  'nodes',
  'workloads',
  'alerts',
  'events',
] as const;
export type TimelineLane = (typeof TIMELINE_LANES)[number];

export const TIMELINE_KINDS = [
  'action',
  'snapshot',
  'upgrade',
  'fault',
  'clusterRun',
  'hostStarted',
  'hostStopped',
  'hostKilled',
  'hostExited',
  'hostPaused',
  'componentReady',
  'componentExited',
  'clockJumped',
  'recordingBegan',
  'leaderElected',
  'noLeader',
  'memberUp',
  'memberDown',
  'memberAdded',
  'memberRemoved',
  'etcdAlarm',
  'leaseMoved',
  'nodeNotReady',
  'nodeCondition',
  'nodeAdded',
  'nodeRemoved',
  'nodeCordoned',
  'rollout',
  'alert',
  'apiErrors',
  'event',
  'eventsSkipped',
] as const;
export type TimelineKind = (typeof TIMELINE_KINDS)[number];

/** What the log of a cluster keeps, and a page shows, of the newest. */
export const TIMELINE_ENTRIES_MAX = 100_000;
/** In one item of the stream: a page of a hundred thousand must not stall on one message. */
export const TIMELINE_CHUNK_MAX = 2_000;
export const TIMELINE_ABOUT_MAX = 16;
const TEXT_CHARACTERS_MAX = 512;

export const timelineEntry = v.object({
  /** Its place in the log of the cluster. An entry that comes again with the same id replaces the first. */
  id: v.number(),
  /** By the clock of the machine that recorded it. */
  atMs: v.number(),
  /** Null: a moment, or `isOpen`. */
  endMs: v.nullable(v.number()),
  /** It has a duration and has not ended. */
  isOpen: v.boolean(),
  lane: v.picklist(TIMELINE_LANES),
  kind: v.picklist(TIMELINE_KINDS),
  severity,
  /** Hosts, members, nodes and objects (`namespace/name`) that it concerns: causes and effects share one. */
  about: v.pipe(
    v.array(v.pipe(v.string(), v.maxLength(TEXT_CHARACTERS_MAX))),
    v.maxLength(TIMELINE_ABOUT_MAX),
  ),
  text: said,
  /** The page of the console that shows its source; null where there is none. */
  source: v.nullable(v.pipe(v.string(), v.maxLength(TEXT_CHARACTERS_MAX))),
  /** The id of the entry that most likely led to it. */
  cause: v.nullable(v.number()),
});
export type TimelineEntry = v.InferOutput<typeof timelineEntry>;

export const timelineItem = v.object({
  entries: v.pipe(v.array(timelineEntry), v.maxLength(TIMELINE_CHUNK_MAX)),
  /** False while the stored entries are still coming. */
  isComplete: v.boolean(),
  /** Lines of the log that could not be read. */
  damagedLines: v.number(),
});
export type TimelineItem = v.InferOutput<typeof timelineItem>;
