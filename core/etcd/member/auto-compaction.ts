import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { every } from '../../base/every.ts';
import type { AutoCompaction } from '../config/config.ts';

const HOUR_MS = 3_600_000;
const REVISION_CHECK_MS = 5 * 60_000;
/** Revisions noted within one compaction interval, as etcd divides it. */
const SAMPLES_PER_INTERVAL = 10;

export interface CompactionSubject {
  revision(): number;
  /** Only the leader compacts on its own: the others follow through the log. */
  isLeader(): boolean;
  /** Proposes a compaction. What fails is tried again at the next sample. */
  compact(revision: number): Promise<void>;
}

/** Drops history by age or by count. Ends when disposed. */
export const startAutoCompaction = (
  setting: AutoCompaction,
  subject: CompactionSubject,
  clock: Clock,
): Disposable => {
  switch (setting.mode) {
    case 'off':
      return toDisposable(() => undefined);
    case 'periodic':
      return every(clock, sampleMs(setting.retentionMs), periodic(setting.retentionMs, subject));
    case 'revision':
      return every(clock, REVISION_CHECK_MS, byRevision(setting.retentionRevisions, subject));
  }
};

const sampleMs = (retentionMs: number): number => Math.min(retentionMs, HOUR_MS) / SAMPLES_PER_INTERVAL;

/** Notes the revision ten times an interval; what was noted `retentionMs` ago is where history may end. */
const periodic = (retentionMs: number, subject: CompactionSubject): (() => Promise<void>) => {
  const samplesMax = Math.max(1, Math.round(retentionMs / sampleMs(retentionMs))) + 1;
  const noted: number[] = [];
  let lastCompacted = 0;
  let samplesSince = 0;
  return async () => {
    noted.push(subject.revision());
    if (noted.length > samplesMax) noted.shift();
    samplesSince += 1;
    const target = noted[0] ?? 0;
    if (noted.length < samplesMax || samplesSince < SAMPLES_PER_INTERVAL) return;
    if (!subject.isLeader() || target <= lastCompacted) return;
    await subject.compact(target);
    lastCompacted = target;
    samplesSince = 0;
  };
};

const byRevision = (retentionRevisions: number, subject: CompactionSubject): (() => Promise<void>) => {
  let lastCompacted = 0;
  return async () => {
    const target = subject.revision() - retentionRevisions;
    if (!subject.isLeader() || target <= lastCompacted) return;
    await subject.compact(target);
    lastCompacted = target;
  };
};
