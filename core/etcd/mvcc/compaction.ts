import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { META } from './backend/backend.ts';
import { KeyValueHasher, type KeyValueHash } from './hash.ts';
import { storedKey } from './key-value.ts';
import { keyString } from './model.ts';
import type { ReadView } from './range.ts';
import { decodeRevision, encodeRevision, type Revision } from './revision.ts';

/** Keys of the index looked at between two pauses. */
const INDEX_CHUNK = 5_000;
const HASHES_MAX = 10;

/** The sweep takes its time, clients come first. */
export interface CompactionPace {
  /** Revisions looked at between two pauses. */
  readonly batchLimit: number;
  readonly pauseMs: number;
}

/** etcd's defaults. */
export const COMPACTION_PACE: CompactionPace = { batchLimit: 1_000, pauseMs: 10 };

/** Told how long a compaction held up the rest; in milliseconds, as etcd's metrics are. */
export interface CompactionObserver {
  indexPaused(ms: number): void;
  sweepPaused(ms: number): void;
  finished(ms: number, removedKeys: number): void;
}

const nothing = (): void => undefined;
export const unobservedCompactions: CompactionObserver = {
  indexPaused: nothing,
  sweepPaused: nothing,
  finished: nothing,
};

export interface CompactionsOptions {
  readonly view: ReadView;
  readonly clock: Clock;
  readonly log: Log;
  readonly pace: CompactionPace;
  readonly observer: CompactionObserver;
}

/**
 * Removes compacted history in the background, one compaction after the other, in chunks. Interrupted at any
 * point it can start over: the scheduled mark says what to do, and removing what is gone does nothing.
 */
export class Compactions {
  readonly #options: CompactionsOptions;
  #tail: Promise<void> = Promise.resolve();
  #isStopped = false;
  /** A sweep that starts over no longer sees what its first run removed, so its hash would be wrong. */
  #isHashTrusted = true;
  #hashes: KeyValueHash[] = [];

  constructor(options: CompactionsOptions) {
    this.#options = options;
  }

  hashAt(revision: number): KeyValueHash | undefined {
    return this.#hashes.find((known) => known.revision === revision);
  }

  /** The next compaction is one that an earlier run did not finish. */
  interrupted(): void {
    this.#isHashTrusted = false;
  }

  run(revision: number, previousRevision: number): Promise<void> {
    this.#tail = this.#tail.then(async () => {
      try {
        await this.#compact(revision, previousRevision);
      } catch (error) {
        this.#options.log.write('warn', 'Failed compaction', { revision, error: messageOf(error) });
      }
    });
    return this.#tail;
  }

  stop(): void {
    this.#isStopped = true;
  }

  async #compact(revision: number, previousRevision: number): Promise<void> {
    if (this.#isStopped) return;
    const startedMs = this.#options.clock.monotonicMs();
    const isAnyKept = await this.#compactIndex(revision);
    const removedCount = await this.#sweep(revision, previousRevision, isAnyKept);
    if (this.#isStopped) return;
    this.#options.observer.finished(this.#options.clock.monotonicMs() - startedMs, removedCount);
    this.#options.log.write('info', 'finished scheduled compaction', {
      'compact-revision': revision,
      took: `${Math.round(this.#options.clock.monotonicMs() - startedMs)}ms`,
      'number-of-keys-compacted': removedCount,
    });
  }

  #pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.#options.clock.after(delayMs, resolve));
  }

  /** Whether any key keeps a revision at or below the compacted one. */
  async #compactIndex(revision: number): Promise<boolean> {
    const { index } = this.#options.view;
    let isAnyKept = false;
    let start = '';
    while (!this.#isStopped) {
      const dead: string[] = [];
      let seenCount = 0;
      let last = '';
      const startedMs = this.#options.clock.monotonicMs();
      index.walk({ start, end: '' }, (revisions) => {
        last = revisions.key;
        isAnyKept ||= revisions.keptBy(revision) !== undefined;
        revisions.compact(revision);
        if (revisions.isEmpty) dead.push(revisions.key);
        seenCount += 1;
        return seenCount < INDEX_CHUNK;
      });
      for (const key of dead) index.drop(key);
      this.#options.observer.indexPaused(this.#options.clock.monotonicMs() - startedMs);
      if (seenCount < INDEX_CHUNK) break;
      start = `${last}\0`;
      await this.#pause(0);
    }
    return isAnyKept;
  }

  async #sweep(revision: number, previousRevision: number, isAnyKept: boolean): Promise<number> {
    const { view, pace } = this.#options;
    const isKept = (at: Revision, stored: Buffer): boolean => {
      const kept = view.index.get(keyString(storedKey(stored)))?.keptBy(revision);
      return kept?.main === at.main && kept.sub === at.sub;
    };
    const hasher = new KeyValueHasher({
      compactRevision: previousRevision,
      revision,
      isKept: (at, stored) => !isAnyKept || isKept(at, stored),
    });
    const end = encodeRevision(revision + 1, 0);
    let from = encodeRevision(0, 0);
    let removedCount = 0;
    while (!this.#isStopped) {
      const { backend } = view;
      const startedMs = this.#options.clock.monotonicMs();
      const chunk = backend.range('key', from, end, pace.batchLimit);
      for (const { key, value } of chunk) {
        hasher.write(key, value);
        if (isKept(decodeRevision(key), value)) continue;
        backend.delete('key', key);
        removedCount += 1;
      }
      this.#options.observer.sweepPaused(this.#options.clock.monotonicMs() - startedMs);
      const last = chunk[chunk.length - 1];
      if (chunk.length < pace.batchLimit || last === undefined) {
        backend.put('meta', META.finishedCompact, encodeRevision(revision, 0));
        if (this.#isHashTrusted) this.#remember(hasher.result());
        this.#isHashTrusted = true;
        break;
      }
      from = Buffer.concat([last.key, Buffer.of(0)]);
      await this.#pause(pace.pauseMs);
    }
    return removedCount;
  }

  #remember(hash: KeyValueHash): void {
    this.#hashes.push(hash);
    this.#hashes.sort((a, b) => a.revision - b.revision);
    if (this.#hashes.length > HASHES_MAX) this.#hashes.shift();
  }
}
