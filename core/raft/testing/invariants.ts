import { assert } from '../../base/assert.ts';
import type { Message } from '../messages.ts';
import type { LogEntry, MemberId } from '../types.ts';
import type { TestMember } from './member.ts';

const sameEntry = (a: LogEntry, b: LogEntry): boolean =>
  a.index === b.index && a.term === b.term && a.kind === b.kind && a.data.join() === b.data.join();

/** What must hold in every run (Raft paper, figure 3), watched from outside over all members at the same time. */
export class Invariants {
  /** The one history: what any member applied at an index, all must apply there. */
  readonly history: LogEntry[] = [];
  readonly #leaders = new Map<number, MemberId>();
  readonly #votes = new Map<string, MemberId>();
  readonly #readFloors = new Map<number, number>();
  answeredReadsCount = 0;

  get termsCount(): number {
    return this.#leaders.size;
  }

  /** Election safety and leader completeness, for every leader seen. */
  observeLeader(member: TestMember): void {
    const { core } = member;
    if (core.role !== 'leader') return;
    const known = this.#leaders.get(core.term);
    assert(
      known === undefined || known === member.id,
      `term ${core.term} has leaders ${known} and ${member.id}`,
    );
    if (known !== undefined) return;
    this.#leaders.set(core.term, member.id);
    for (const entry of this.history) {
      // Entries of a later term were committed by a later leader, of whom this one need not know.
      if (entry.index < core.firstIndex || entry.term >= core.term) continue;
      assert(
        core.termAt(entry.index) === entry.term,
        `leader ${member.id} of term ${core.term} lacks committed entry ${entry.index}`,
      );
    }
  }

  /** State-machine safety. */
  observeApply(member: MemberId, entry: LogEntry): void {
    const known = this.history[entry.index - 1];
    if (known !== undefined) {
      assert(sameEntry(known, entry), `member ${member} applied another entry at ${entry.index}`);
      return;
    }
    assert(
      entry.index === this.history.length + 1,
      `member ${member} applied ${entry.index} before its predecessor`,
    );
    this.history.push(entry);
  }

  /** Persistence: what a message promises is on the sender's disk when it leaves. */
  observeSend(member: TestMember, message: Message): void {
    const { disk } = member;
    if (message.kind === 'appendReply' && !message.reject && message.index > 0) {
      const last = disk.entries.at(-1)?.index ?? disk.mark.index;
      assert(
        last >= message.index,
        `member ${member.id} acknowledged ${message.index}, its disk ends at ${last}`,
      );
    }
    if (message.kind !== 'voteReply' || message.reject || message.pre) return;
    assert(
      disk.hardState.term >= message.term,
      `member ${member.id} voted in a term that is not on its disk`,
    );
    const key = `${member.id}@${message.term}`;
    const known = this.#votes.get(key);
    assert(known === undefined || known === message.to, `${key} voted for ${known} and ${message.to}`);
    this.#votes.set(key, message.to);
  }

  /** Linearizable reads: an answer covers everything that anybody had applied when the question was asked. */
  askRead(context: number): void {
    this.#readFloors.set(context, this.history.length);
  }

  observeRead(context: number, index: number): void {
    const floor = this.#readFloors.get(context);
    assert(floor !== undefined, `read ${context} was never asked`);
    assert(
      index >= floor,
      `read ${context} got index ${index}, but ${floor} was applied before it was asked`,
    );
    this.answeredReadsCount += 1;
  }

  /** Log matching: same index and term means the same entry and the same logs before it. */
  checkLogs(members: readonly TestMember[]): void {
    const ENOUGH_BYTES = Number.MAX_SAFE_INTEGER;
    const logs = members.map(({ core }) =>
      core.lastIndex < core.firstIndex ? [] : core.entries(core.firstIndex, ENOUGH_BYTES),
    );
    for (const [i, a] of logs.entries()) {
      for (const b of logs.slice(i + 1)) checkMatching(a, b);
    }
  }
}

const checkMatching = (a: readonly LogEntry[], b: readonly LogEntry[]): void => {
  const first = Math.max(a[0]?.index ?? Infinity, b[0]?.index ?? Infinity);
  const last = Math.min(a.at(-1)?.index ?? 0, b.at(-1)?.index ?? 0);
  let agreed = false;
  for (let index = last; index >= first; index -= 1) {
    const left = a[index - a[0]!.index]!;
    const right = b[index - b[0]!.index]!;
    agreed ||= left.term === right.term;
    assert(!agreed || sameEntry(left, right), `logs agree above ${index} and differ there`);
  }
};
