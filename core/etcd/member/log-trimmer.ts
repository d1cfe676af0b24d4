import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { RaftCore } from '../../raft/core.ts';
import type { MemberConfig } from '../config/config.ts';
import type { Wal } from '../wal/index.ts';
import type { StateMachine } from './state-machine.ts';

export interface LogTrimmerOptions {
  readonly config: Pick<MemberConfig, 'snapshotCount' | 'snapshotCatchUpEntries' | 'walSegmentsKept'>;
  readonly machine: StateMachine;
  readonly raft: RaftCore;
  readonly wal: Wal;
  readonly log: Log;
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
    const { raft, machine, wal, config, log } = this.#options;
    try {
      // The entry being applied is not reported yet: the turn ends first.
      await Promise.resolve();
      const mark = raft.mark();
      await machine.backend.commit();
      await wal.append({ snapshot: mark });
      if (config.walSegmentsKept > 0) await wal.release(mark.index, { keep: config.walSegmentsKept });
      raft.compactTo(Math.max(raft.firstIndex - 1, mark.index - config.snapshotCatchUpEntries));
      this.#lastMark = mark.index;
      log.write('info', 'compacted Raft logs', { 'compact-index': mark.index });
    } catch (error) {
      log.write('warn', 'Raft log was not compacted', { error: messageOf(error) });
    }
  }
}
