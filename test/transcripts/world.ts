import type { Random } from '../../core/base/random.ts';
import type { MemberChange } from '../../core/raft/configuration.ts';
import type { MemberId } from '../../core/raft/types.ts';
import type { RaftBounds } from '../../core/raft/bounds.ts';
import type { Turn } from '../../core/raft/turn.ts';
import { bootstrapLog } from '../../core/raft/configuration.ts';
import { emptyDisk, TestMember, type Packet, type TestDisk } from '../../core/raft/testing/member.ts';
import {
  formatEntries,
  formatEntry,
  formatMessage,
  formatPersist,
  formatRole,
  formatStatus,
} from './format.ts';

const ELECTION_TICKS = 10;
const ROUNDS_MAX = 100;

/** Not random at all: member n waits for 10 + n - 1 ticks, so a reader can follow. */
const predictable = (id: MemberId): Random => ({
  next: () => 0,
  below: (bound) => Math.min(id - 1, bound - 1),
});

/** The members of one transcript and the network between them. What happens is told to `trace`, line by line. */
export class World {
  bounds: Partial<RaftBounds> = {};
  readonly #members = new Map<MemberId, TestMember>();
  readonly #crashed = new Map<MemberId, TestDisk>();
  readonly #roles = new Map<MemberId, string>();
  #groups: readonly ReadonlySet<MemberId>[] = [];
  #packets: Packet[] = [];
  readonly #trace: (line: string) => void;

  constructor(trace: (line: string) => void) {
    this.#trace = trace;
  }

  found(ids: readonly MemberId[]): void {
    for (const id of ids) {
      const disk = emptyDisk();
      disk.entries = bootstrapLog(ids);
      disk.hardState = { term: 1, vote: 0, commit: 1 };
      this.#start(id, disk);
    }
  }

  join(id: MemberId): void {
    this.#start(id, emptyDisk());
  }

  #start(id: MemberId, disk: TestDisk): void {
    const member: TestMember = new TestMember({
      id,
      disk,
      random: predictable(id),
      electionTicks: ELECTION_TICKS,
      bounds: this.bounds,
      send: (packet) => this.#send(packet),
      onTurn: (turn) => this.#traceTurn(id, turn),
      onApplied: (entries) => {
        this.#trace(`${id} applies ${formatEntries(entries)}`);
      },
    });
    this.#members.set(id, member);
    member.pump();
  }

  #send(packet: Packet): void {
    const { from, to } = packet.message;
    const lost = !this.#members.has(to) || this.#groups.some((group) => group.has(from) !== group.has(to));
    this.#trace(`${formatMessage(packet.message)}${lost ? ' (lost)' : ''}`);
    if (!lost) this.#packets.push(packet);
  }

  #traceTurn(id: MemberId, turn: Turn): void {
    const role = formatRole(turn);
    if (role !== this.#roles.get(id)) this.#trace(`${id} is ${role}`);
    this.#roles.set(id, role);
    for (const { context, index } of turn.readStates)
      this.#trace(`${id} may answer read ${context} at index ${index}`);
    if (turn.persist) this.#trace(`${id} writes ${formatPersist(turn.persist)}`);
  }

  member(id: MemberId): TestMember {
    const member = this.#members.get(id);
    if (member === undefined) throw new Error(`there is no running member ${id}`);
    return member;
  }

  get ids(): MemberId[] {
    return [...this.#members.keys()].sort((a, b) => a - b);
  }

  pump(): void {
    for (const id of this.ids) this.member(id).pump();
  }

  tick(ids: readonly MemberId[], count: number): void {
    for (let i = 0; i < count; i += 1) {
      for (const id of ids) {
        this.member(id).core.tick();
        this.member(id).pump();
      }
    }
  }

  /** One way for everything that is in progress, in the order in which it was sent. */
  deliver(): boolean {
    const packets = this.#packets;
    this.#packets = [];
    for (const packet of packets) this.#members.get(packet.message.to)?.receive(packet);
    this.pump();
    return packets.length > 0;
  }

  stabilize(): void {
    let rounds = 0;
    while (this.deliver()) {
      rounds += 1;
      if (rounds > ROUNDS_MAX) throw new Error('the members never come to rest');
    }
  }

  /** Loses what is in progress to `to`, or everything. */
  lose(to: MemberId | undefined): void {
    const lost = this.#packets.filter(({ message }) => to === undefined || message.to === to);
    this.#packets = this.#packets.filter((packet) => !lost.includes(packet));
    for (const { message } of lost) this.#trace(`${formatMessage(message)} (lost)`);
  }

  /** Each group hears only itself. */
  partition(groups: readonly (readonly MemberId[])[]): void {
    this.#groups = groups.map((group) => new Set(group));
    this.#packets = this.#packets.filter(
      ({ message }) => !this.#groups.some((group) => group.has(message.from) !== group.has(message.to)),
    );
  }

  /** What was not written is gone; what was on its way to it, too. */
  crash(id: MemberId): void {
    this.#crashed.set(id, this.member(id).disk);
    this.#members.delete(id);
    this.#roles.delete(id);
    this.#packets = this.#packets.filter(({ message }) => message.to !== id);
  }

  restart(id: MemberId): void {
    const disk = this.#crashed.get(id);
    if (disk === undefined) throw new Error(`member ${id} has not crashed`);
    this.#crashed.delete(id);
    this.#start(id, disk);
  }

  changeMembers(at: MemberId, changes: readonly MemberChange[]): string {
    const result = this.member(at).core.proposeConfiguration({ changes, context: '' });
    return result.kind === 'refused' ? `refused: ${result.reason}` : result.kind;
  }

  propose(at: MemberId, text: string): string {
    const result = this.member(at).core.propose(new TextEncoder().encode(text));
    return result.kind === 'refused' ? `refused: ${result.reason}` : result.kind;
  }

  status(ids: readonly MemberId[]): void {
    for (const id of ids) for (const line of formatStatus(this.member(id).core.status())) this.#trace(line);
  }

  log(id: MemberId): void {
    const { core } = this.member(id);
    if (core.lastIndex < core.firstIndex) return;
    for (const entry of core.entries(core.firstIndex, Number.MAX_SAFE_INTEGER))
      this.#trace(`   ${formatEntry(entry)}`);
  }
}
