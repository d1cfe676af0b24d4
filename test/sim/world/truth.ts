import type { Message } from '../../../core/raft/messages.ts';
import type { LogEntry, MemberId } from '../../../core/raft/types.ts';
import type { Event } from '../../../core/etcd/mvcc/model.ts';
import type { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';

/** One change of one key, as text: what every member and every watcher must say of it alike. */
export interface Change {
  readonly type: 'put' | 'delete';
  readonly key: string;
  readonly value: string;
}

export interface Revision {
  readonly changes: readonly Change[];
  /** When the first member made it, in true time. */
  readonly atMs: number;
  readonly text: string;
}

const sameData = (a: Uint8Array, b: Uint8Array): boolean => a === b || Buffer.compare(a, b) === 0;

export const changeOf = (event: Event): Change => ({
  type: event.type,
  key: event.key,
  value: event.type === 'put' ? event.kv.value.toString('latin1') : '',
});

/**
 * What happened, as the members themselves bear witness: who led in which term, which entry was applied at which
 * index, what each revision changed. The first witness is believed, and all others must agree with it.
 */
export class Truth {
  readonly revisions = new Map<number, Revision>();
  readonly #timeline: Timeline;
  readonly #trace: Trace;
  readonly #leaders = new Map<number, MemberId>();
  readonly #applied = new Map<number, LogEntry>();
  readonly #onRevision: ((revision: number, made: Revision) => void)[] = [];
  readonly #writes = new Map<string, number>();
  lastRevision = 1;
  transferCount = 0;

  constructor(timeline: Timeline, trace: Trace) {
    this.#timeline = timeline;
    this.#trace = trace;
  }

  get termCount(): number {
    return this.#leaders.size;
  }

  get appliedCount(): number {
    return this.#applied.size;
  }

  onRevision(listener: (revision: number, made: Revision) => void): void {
    this.#onRevision.push(listener);
  }

  /** What a key held as of a revision. */
  valueAt(key: string, revision: number): string | undefined {
    for (let at = revision; at > 1; at -= 1) {
      const change = this.revisions.get(at)?.changes.findLast((each) => each.key === key);
      if (change !== undefined) return change.type === 'put' ? change.value : undefined;
    }
    return undefined;
  }

  /** Election safety: anyone who speaks as the leader of a term is the only one. */
  sent(message: Message): void {
    const { kind, from, term } = message;
    if (kind !== 'append' && kind !== 'heartbeat' && kind !== 'snapshot' && kind !== 'commit') return;
    if (kind === 'snapshot') this.transferCount += 1;
    const known = this.#leaders.get(term);
    if (known === undefined) this.#leaders.set(term, from);
    else if (known !== from)
      this.#trace.fail(
        'election safety',
        `term ${term} has leaders ${known.toString(16)} and ${from.toString(16)}`,
      );
  }

  /** State machine safety: one entry an index, no matter who applies it and however often. */
  applied(machine: string, entry: LogEntry): void {
    const known = this.#applied.get(entry.index);
    if (known === undefined) {
      this.#applied.set(entry.index, entry);
      return;
    }
    if (known.term === entry.term && known.kind === entry.kind && sameData(known.data, entry.data)) return;
    this.#trace.fail(
      'log matching',
      `${machine} applied entry ${entry.index} of term ${entry.term}, another applied that of term ${known.term}`,
    );
  }

  changed(machine: string, revision: number, events: readonly Event[]): void {
    const changes = events.map(changeOf);
    const text = changes.map(({ type, key, value }) => `${type} ${key}=${value}`).join(', ');
    const known = this.revisions.get(revision);
    if (known !== undefined) {
      if (known.text !== text)
        this.#trace.fail(
          'same state',
          `${machine} has ${text} at revision ${revision}, another has ${known.text}`,
        );
      return;
    }
    for (const { type, key, value } of changes)
      this.#checkOnce(revision, type === 'put' ? `${key}=${value}` : '');
    const made = { changes, atMs: this.#timeline.nowMs, text };
    this.revisions.set(revision, made);
    this.lastRevision = Math.max(this.lastRevision, revision);
    for (const listener of this.#onRevision) listener(revision, made);
  }

  /** Clients never write a value twice, so neither may the members, whatever they propose again. */
  #checkOnce(revision: number, write: string): void {
    if (write === '') return;
    const before = this.#writes.get(write);
    if (before !== undefined)
      this.#trace.fail('applied once', `${write} is written at revision ${before} and again at ${revision}`);
    this.#writes.set(write, revision);
  }
}
