import type { Clock } from '../../core/base/clock.ts';
import { pause } from '../../core/client/index.ts';
import { TimelineFollower } from '../../core/cluster/timeline/follow-timeline.ts';
import { Relater, relateAll } from '../../core/cluster/timeline/relate.ts';
import type { Timeline } from '../../core/cluster/timeline/timeline.ts';
import { TIMELINE_CHUNK_MAX, type TimelineEntry, type TimelineItem } from '../../core/contract/index.ts';
import type { LocalCluster } from '../clusters/local-clusters.ts';
import { Feed } from '../state/feed.ts';

/** How often the files of a cluster that another process runs are looked at, while a page shows them. */
const LOOK_MS = 2_000;
/** Entries that wait for a slow page; one that is dropped comes with the next look at the page. */
const WAITING_MAX = TIMELINE_CHUNK_MAX;

const stored = function* (
  entries: readonly TimelineEntry[],
  damagedLines: number,
): Generator<TimelineItem[], void, void> {
  for (let at = 0; at < entries.length || at === 0; at += TIMELINE_CHUNK_MAX) {
    const chunk = entries.slice(at, at + TIMELINE_CHUNK_MAX);
    yield [{ entries: chunk, isComplete: at + TIMELINE_CHUNK_MAX >= entries.length, damagedLines }];
  }
};

/** Of a cluster that runs here: what is stored, then every entry as it is recorded. */
async function* liveTimeline(timeline: Timeline, signal: AbortSignal): AsyncGenerator<TimelineItem[]> {
  const feed = new Feed<TimelineEntry>({ listenerItemsMax: WAITING_MAX });
  const relater = new Relater();
  const listening = timeline.log.onChange((entry) => feed.publish(relater.add(entry)));
  // Listened to before the files are read: what comes in between comes twice, and replaces itself.
  const live = feed.listen(signal);
  const next = live.next();
  try {
    const { entries, damagedLines } = await timeline.log.read();
    const related = relateAll(entries);
    for (const entry of related) relater.prepare(entry);
    yield* stored(related, damagedLines);
    for (let batch = await next; !batch.done; batch = await live.next())
      yield [{ entries: batch.value, isComplete: true, damagedLines }];
  } finally {
    listening.dispose();
    feed.close();
  }
}

/** Of one that runs elsewhere or does not run: its files, and what is appended to them. */
async function* storedTimeline(
  cluster: LocalCluster,
  clock: Clock,
  signal: AbortSignal,
): AsyncGenerator<TimelineItem[]> {
  const follower = new TimelineFollower(cluster.directory);
  let isFirst = true;
  while (!signal.aborted) {
    const isRunning = cluster.isElsewhere || cluster.supervisor !== undefined;
    const { entries, damagedLines } = await follower.look(isRunning);
    if (isFirst || entries.length > 0) yield* stored(entries, damagedLines);
    isFirst = false;
    await pause(clock, LOOK_MS, signal).catch(() => undefined);
  }
}

export const timelineStream = (
  cluster: LocalCluster,
  clock: Clock,
  signal: AbortSignal,
): AsyncIterable<TimelineItem[]> =>
  cluster.supervisor
    ? liveTimeline(cluster.supervisor.timeline, signal)
    : storedTimeline(cluster, clock, signal);
