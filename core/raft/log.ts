import { assert, InvariantError } from '../base/assert.ts';
import { ENTRY_OVERHEAD_BYTES } from './bounds.ts';
import type { LogEntry, SnapshotMark } from './types.ts';

export const entryBytes = (entry: LogEntry): number => entry.data.length + ENTRY_OVERHEAD_BYTES;

/** `assert` for the hot path: the text is made only when it is needed. */
const broken = (message: string): never => {
  throw new InvariantError(message);
};

/**
 * The log since the last compaction, in memory, and its cursors:
 *
 *     offset <= applied <= applying <= committed <= last,   offset <= stable <= persisting <= last
 *
 * `stable` is on disk, `persisting` is handed out to be written, `applying` is handed out to be applied.
 */
export class RaftLog {
  #entries: LogEntry[];
  #offset: number;
  #offsetTerm: number;
  #committed: number;
  #applied: number;
  #applying: number;
  #applyingBytes = 0;
  #stable: number;
  #persisting: number;
  #snapshot: SnapshotMark | undefined;

  constructor(restored: {
    readonly mark: { readonly index: number; readonly term: number };
    readonly entries: readonly LogEntry[];
    readonly commit: number;
    readonly applied: number;
  }) {
    const { mark } = restored;
    this.#entries = restored.entries.filter((entry) => entry.index > mark.index);
    this.#entries.forEach((entry, i) =>
      assert(entry.index === mark.index + 1 + i, `restored log has a hole before index ${entry.index}`),
    );
    this.#offset = mark.index;
    this.#offsetTerm = mark.term;
    this.#stable = this.#persisting = this.lastIndex;
    this.#applied = this.#applying = Math.max(restored.applied, mark.index);
    // What was applied was committed, even if the commit index of that moment never reached the disk.
    this.#committed = Math.max(restored.commit, this.#applied, this.#lastSettledConfig());
    assert(
      this.#committed <= this.lastIndex,
      `commit ${this.#committed} is beyond the last restored index ${this.lastIndex}`,
    );
  }

  /**
   * A leader proposes a membership change only once it has applied the one before. So a log with two of them
   * proves the first committed, even if a crash tore that knowledge off; electing by an older one is unsafe.
   */
  #lastSettledConfig(): number {
    const configs = this.#entries.filter((entry) => entry.kind === 'config');
    return configs.at(-2)?.index ?? 0;
  }

  get firstIndex(): number {
    return this.#offset + 1;
  }
  get lastIndex(): number {
    return this.#offset + this.#entries.length;
  }
  get lastTerm(): number {
    return this.#entries.at(-1)?.term ?? this.#offsetTerm;
  }
  get committed(): number {
    return this.#committed;
  }
  get applied(): number {
    return this.#applied;
  }
  get stable(): number {
    return this.#stable;
  }
  /** Received and not yet installed; until then nothing is applied. */
  get snapshot(): SnapshotMark | undefined {
    return this.#snapshot;
  }

  /** Undefined for an index that is compacted away or not yet there. */
  term(index: number): number | undefined {
    if (index === this.#offset) return this.#offsetTerm;
    return this.#entries[index - this.#offset - 1]?.term;
  }

  matches(index: number, term: number): boolean {
    return this.term(index) === term;
  }

  /** Entries from `from` on, up to a page of `bytesMax`, but at least one. */
  entries(from: number, bytesMax: number, to: number = this.lastIndex): LogEntry[] {
    if (from <= this.#offset) broken(`index ${from} is compacted, the log starts at ${this.firstIndex}`);
    const start = from - this.#offset - 1;
    const limit = to - this.#offset;
    let end = start;
    let bytes = 0;
    while (end < limit) {
      bytes += entryBytes(this.#entries[end]!);
      if (bytes > bytesMax && end > start) break;
      end += 1;
    }
    return this.#entries.slice(start, end);
  }

  append(entry: LogEntry): void {
    if (entry.index !== this.lastIndex + 1) broken(`entry ${entry.index} does not follow ${this.lastIndex}`);
    this.#entries.push(entry);
  }

  /** Takes over what a leader sent, from the first entry that differs on. Raft paper, figure 2, steps 3-4. */
  merge(entries: readonly LogEntry[]): void {
    for (let i = 0; i < entries.length; i += 1) {
      const entry = entries[i]!;
      if (entry.index <= this.lastIndex) {
        if (this.matches(entry.index, entry.term)) continue;
        this.#truncate(entry.index);
      }
      this.append(entry);
    }
  }

  #truncate(from: number): void {
    assert(from > this.#committed, `entry ${from} differs from a committed one (commit ${this.#committed})`);
    this.#entries.length = from - this.#offset - 1;
    this.#stable = Math.min(this.#stable, from - 1);
    this.#persisting = Math.min(this.#persisting, from - 1);
  }

  commitTo(index: number): boolean {
    if (index <= this.#committed) return false;
    if (index > this.lastIndex) broken(`commit ${index} is beyond the last index ${this.lastIndex}`);
    this.#committed = index;
    return true;
  }

  isUpToDate(lastIndex: number, lastTerm: number): boolean {
    return lastTerm > this.lastTerm || (lastTerm === this.lastTerm && lastIndex >= this.lastIndex);
  }

  /**
   * The largest index not above `index` whose term is not above `term`: everything between cannot match, so
   * a repair skips one term a round trip instead of one entry (Raft paper, end of section 5.3).
   */
  lastNotAbove(index: number, term: number): { index: number; term: number } {
    for (let i = Math.min(index, this.lastIndex); i >= this.#offset; i -= 1) {
      const found = this.term(i)!;
      if (found <= term) return { index: i, term: found };
    }
    // Unknown below the compaction: no term to compare by.
    return { index: Math.min(index, Math.max(this.#offset - 1, 0)), term: 0 };
  }

  hasUnpersisted(): boolean {
    return this.#persisting < this.lastIndex;
  }

  /** Hands out what is not yet on disk; `persisted` answers. */
  takeUnpersisted(): LogEntry[] {
    const entries = this.#entries.slice(this.#persisting - this.#offset);
    this.#persisting = this.lastIndex;
    return entries;
  }

  /** A truncation in the meantime has pulled `persisting` back, so what was replaced never counts. */
  persisted(): void {
    this.#stable = this.#persisting;
  }

  /** Committed entries that are durable here, a page at a time and no more than may be in progress. */
  takeCommitted(bytesMax: number): LogEntry[] {
    const to = Math.min(this.#committed, this.#stable);
    if (this.#snapshot !== undefined || this.#applying >= to) return [];
    const free = bytesMax - this.#applyingBytes;
    // An entry above the bound passes when it is alone: it could never pass otherwise.
    const next = this.#entries[this.#applying - this.#offset]!;
    if (this.#applyingBytes > 0 && entryBytes(next) > free) return [];
    const entries = this.entries(this.#applying + 1, free, to);
    for (const entry of entries) this.#applyingBytes += entryBytes(entry);
    this.#applying += entries.length;
    return entries;
  }

  appliedTo(index: number): void {
    if (index <= this.#applied) return;
    // The tail of what was handed out before a snapshot came: the snapshot covers it.
    if (this.#snapshot !== undefined && index <= this.#offset) return;
    if (index > this.#applying) broken(`applied ${index} was never handed out (up to ${this.#applying})`);
    for (let i = this.#applied + 1; i <= index; i += 1) {
      this.#applyingBytes -= entryBytes(this.#entries[i - this.#offset - 1]!);
    }
    this.#applied = index;
  }

  hasUnappliedConfig(): boolean {
    for (let i = this.#applied + 1; i <= this.#committed; i += 1) {
      if (this.#entries[i - this.#offset - 1]?.kind === 'config') return true;
    }
    return false;
  }

  /** Payload of (from, to]. */
  payloadBytes(from: number, to: number): number {
    let bytes = 0;
    for (let i = from + 1; i <= to; i += 1) bytes += this.#entries[i - this.#offset - 1]?.data.length ?? 0;
    return bytes;
  }

  compactTo(index: number): void {
    if (index <= this.#offset) return;
    assert(index <= this.#applied, `index ${index} is not applied yet (up to ${this.#applied})`);
    this.#offsetTerm = this.term(index)!;
    this.#entries.splice(0, index - this.#offset);
    this.#offset = index;
  }

  /** Replaces everything by a state that the leader sent. */
  restore(mark: SnapshotMark): void {
    this.#entries = [];
    this.#offset = mark.index;
    this.#offsetTerm = mark.term;
    this.#committed = mark.index;
    this.#stable = this.#persisting = mark.index;
    this.#snapshot = mark;
  }

  /** The state machine is at `mark` now, whatever it was applying before. */
  installed(mark: SnapshotMark): void {
    if (this.#snapshot === mark) this.#snapshot = undefined;
    this.#applied = this.#applying = Math.max(this.#applied, mark.index);
    this.#applyingBytes = 0;
  }
}
