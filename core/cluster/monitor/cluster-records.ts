import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { TimelineRecorder } from './etcd/timeline-recorder.ts';
import { DiskHistory, type HistoryBounds } from './history/disk-history.ts';
import type { Histories } from './history/query.ts';
import { metricsFolder } from './metrics-folder.ts';
import { SoleWriter } from './sole-writer.ts';

const HOUR_MS = 3_600_000;
const MIB = 1024 * 1024;

/** A sample of a cluster of three is about 1 kB: a day of them has half of its bound. */
const RAW_BOUNDS: HistoryBounds = { segmentBytesMax: MIB, bytesMax: 32 * MIB, retentionMs: 24 * HOUR_MS };
const MINUTE_BOUNDS: HistoryBounds = {
  segmentBytesMax: MIB,
  bytesMax: 32 * MIB,
  retentionMs: 14 * 24 * HOUR_MS,
};

/** What is kept of a cluster of ours in its own folder, whether it runs or not. One process writes it, others read. */
export interface ClusterRecords {
  readonly histories: Histories;
  readonly timeline: TimelineRecorder;
  close(): Promise<void>;
}

export const openClusterRecords = (
  dataDirectory: string,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): ClusterRecords => {
  const directory = metricsFolder(dataDirectory);
  const writer = new SoleWriter(directory);
  const { mayWrite } = writer;
  const raw = new DiskHistory({ directory, prefix: 'raw', bounds: RAW_BOUNDS, log, mayWrite });
  const minute = new DiskHistory({ directory, prefix: 'minute', bounds: MINUTE_BOUNDS, log, mayWrite });
  const timeline = new TimelineRecorder({
    file: join(directory, 'etcd-timeline.json'),
    clock,
    log,
    mayWrite,
  });
  return {
    histories: { raw, minute },
    timeline,
    async close() {
      try {
        await Promise.all([raw.close(), minute.close(), timeline.close()]);
      } finally {
        writer.dispose();
      }
    },
  };
};
