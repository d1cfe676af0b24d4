import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { RaftCore } from '../../raft/core.ts';
import type { MemberConfig } from '../config/config.ts';
import type { Wal } from '../wal/index.ts';
import type { StateMachine } from './state-machine.ts';

const MS_PER_SECOND = 1000;

export interface LogTrimmerOptions {
  readonly config: Pick<MemberConfig, 'snapshotCount' | 'snapshotCatchUpEntries' | 'walSegmentsKept'>;
  readonly machine: StateMachine;
  readonly raft: RaftCore;
  readonly wal: Wal;
  readonly log: Log;
  readonly clock: Clock;
  readonly onSaved: (seconds: number, syncSeconds: number) => void;
}

/**
 * Keeps the log short. The backend is the snapshot: once what it holds is durable, the log before that is
 * needed by no one but followers that lag a little, and a tail is left for them.
 */
export class LogTrimmer {
  readonly #options: LogTrimmerOptions;
  #lastMark: number;
  #running: Promise<void> | undefined;

  constructor(options: LogTrimmerOptions) {
    this.#options = options;
    this.#lastMark = options.raft.firstIndex - 1;
  }

  /** After entries were applied up to `index`. */
  consider(index: number): void {
    if (this.#running !== undefined || index - this.#lastMark < this.#options.config.snapshotCount) return;
    this.#running = this.#trim().finally(() => (this.#running = undefined));
  }

  async settled(): Promise<void> {
    await this.#running;
  }

  async #trim(): Promise<void> {
    const { raft, machine, wal, config, log, clock, onSaved } = this.#options;
    try {
      // The entry being applied is not reported yet: the turn ends first.
      await Promise.resolve();
      const mark = raft.mark();
      const startedMs = clock.monotonicMs();
      log.write('info', 'triggering snapshot', {
        'local-member-applied-index': mark.index,
        'local-member-snapshot-index': this.#lastMark,
        'local-member-snapshot-count': config.snapshotCount,
      });
      await machine.backend.commit();
      const syncFromMs = clock.monotonicMs();
      await wal.append({ snapshot: mark });
      const nowMs = clock.monotonicMs();
      onSaved((nowMs - startedMs) / MS_PER_SECOND, (nowMs - syncFromMs) / MS_PER_SECOND);
      log.write('info', 'saved snapshot', { 'snapshot-index': mark.index });
      if (config.walSegmentsKept > 0) await wal.release(mark.index, { keep: config.walSegmentsKept });
      raft.compactTo(Math.max(raft.firstIndex - 1, mark.index - config.snapshotCatchUpEntries));
      this.#lastMark = mark.index;
      log.write('info', 'compacted Raft logs', { 'compact-index': mark.index });
    } catch (error) {
      log.write('warn', 'Raft log was not compacted', { error: messageOf(error) });
    }
  }
}
