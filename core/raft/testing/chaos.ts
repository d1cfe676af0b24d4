import { assert } from '../../base/assert.ts';
import { seededRandom, type Random } from '../../base/random.ts';
import type { RaftBounds } from '../bounds.ts';
import { bootstrapLog, type MemberChange } from '../configuration.ts';
import type { MemberId } from '../types.ts';
import { Invariants } from './invariants.ts';
import { emptyDisk, TestMember, type Packet, type TestDisk } from './member.ts';

export interface ChaosOptions {
  readonly seed: number;
  readonly members: number;
  readonly steps: number;
  /** Members of the same ids and more come and go. */
  readonly changeMembers?: boolean;
}

/** Small, so that paging, throttling, snapshots and refusals happen all the time. */
const TIGHT_BOUNDS: RaftBounds = {
  appendBytesMax: 120,
  inflightMessagesMax: 3,
  inflightBytesMax: 400,
  uncommittedBytesMax: 60,
  applyGapEntriesMax: 8,
  applyingBytesMax: 150,
  readsPendingMax: 6,
  forwardBytesMax: 20,
};

const PACKETS_MAX = 400;
const SETTLE_ROUNDS_MAX = 600;

/** Members over a network and disks that fail in every way they may, all drawn from one seed. */
export class Chaos {
  readonly invariants = new Invariants();
  readonly #random: Random;
  readonly #options: ChaosOptions;
  readonly #members = new Map<MemberId, TestMember>();
  readonly #disks = new Map<MemberId, TestDisk>();
  readonly #packets: Packet[] = [];
  #cut = new Set<MemberId>();
  #asleep = new Set<MemberId>();
  #nextContext = 1;
  #nextValue = 1;

  constructor(options: ChaosOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    const first = Array.from({ length: options.members }, (_, i) => i + 1);
    for (const id of first) {
      const disk = emptyDisk();
      disk.entries = bootstrapLog(first);
      disk.hardState = { term: 1, vote: 0, commit: 1 };
      this.#start(id, disk);
    }
    // They join empty, when a membership change names them.
    if (options.changeMembers) for (const id of [8, 9]) this.#start(id, emptyDisk());
  }

  get members(): readonly TestMember[] {
    return [...this.#members.values()];
  }

  #start(id: MemberId, disk: TestDisk): void {
    this.#disks.set(id, disk);
    const member: TestMember = new TestMember({
      id,
      disk,
      random: this.#random,
      electionTicks: 5,
      bounds: TIGHT_BOUNDS,
      send: (packet) => {
        this.invariants.observeSend(member, packet.message);
        if (this.#packets.length < PACKETS_MAX) this.#packets.push(packet);
      },
      onTurn: (turn) => {
        for (const { context, index } of turn.readStates) this.invariants.observeRead(context, index);
      },
      onApply: (entry) => this.invariants.observeApply(id, entry),
    });
    this.#members.set(id, member);
  }

  run(): void {
    for (let i = 0; i < this.#options.steps; i += 1) {
      const member = this.#pick(this.members);
      this.#disturb(member);
      this.#members.get(member.id)?.pump();
      for (const each of this.members) this.invariants.observeLeader(each);
      if (i % 50 === 0) this.invariants.checkLogs(this.members);
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)]!;
  }

  #disturb(member: TestMember): void {
    const dice = this.#random.below(1000);
    if (dice < 220) this.#tick(member);
    else if (dice < 720) this.#deliver();
    else if (dice < 790) member.core.propose(new TextEncoder().encode(`v${this.#nextValue++}`));
    else if (dice < 840) this.#read(member);
    else if (dice < 880) member.diskHeld = !member.diskHeld;
    else if (dice < 910) member.finishWrite();
    else if (dice < 930) this.#toggleApply(member);
    else if (dice < 945) this.#compact(member);
    else if (dice < 955) this.#crash(member);
    else if (dice < 962) this.#partition();
    else if (dice < 966) member.core.transferLeader(this.#pick(this.members).id);
    else if (dice < 976) this.#reportSnapshots(member);
    else if (dice < 980) member.core.reportUnreachable(this.#pick(this.members).id);
    else if (this.#options.changeMembers) this.#change(member);
  }

  #tick(member: TestMember): void {
    if (!this.#asleep.has(member.id)) member.core.tick();
  }

  /** Takes any packet: order is no one's right. Some get lost, some come twice. */
  #deliver(): void {
    if (this.#packets.length === 0) return;
    const at = this.#random.below(Math.min(this.#packets.length, 12));
    const packet = this.#packets[at]!;
    if (this.#random.below(30) !== 0) this.#packets.splice(at, 1);
    if (this.#random.below(20) === 0) return;
    this.#receive(packet);
  }

  #receive(packet: Packet): void {
    const { from, to } = packet.message;
    if (this.#cut.has(from) !== this.#cut.has(to)) return;
    const member = this.#members.get(to);
    member?.receive(packet);
    member?.pump();
  }

  #read(member: TestMember): void {
    const context = this.#nextContext++;
    this.invariants.askRead(context);
    member.core.readIndex(context);
  }

  #toggleApply(member: TestMember): void {
    member.applyHeld = !member.applyHeld;
    if (!member.applyHeld) member.applyAll();
  }

  #compact(member: TestMember): void {
    const { appliedIndex, mark } = member.disk;
    if (appliedIndex > mark.index)
      member.compactTo(mark.index + 1 + this.#random.below(appliedIndex - mark.index));
  }

  /** A write in progress is lost or not; its acknowledgement always is. */
  #crash(member: TestMember): void {
    if (this.#random.below(2) === 0) member.write();
    this.#start(member.id, member.disk);
  }

  /**
   * Heals, cuts off some, or cuts off the leader and stops its clock: a leader that does not know that it was
   * replaced is the most dangerous of all.
   */
  #partition(): void {
    const dice = this.#random.below(3);
    this.#cut = new Set();
    this.#asleep = new Set();
    if (dice === 0) return;
    const leader = this.members.find(({ core }) => core.role === 'leader');
    if (dice === 1 && leader !== undefined) {
      this.#cut.add(leader.id);
      this.#asleep.add(leader.id);
      return;
    }
    for (const { id } of this.members) if (this.#random.below(3) === 0) this.#cut.add(id);
  }

  #reportSnapshots(member: TestMember): void {
    const ok = this.#random.below(2) === 0;
    for (const peer of member.core.status().peers) {
      if (peer.state === 'snapshot') member.core.reportSnapshot(peer.id, ok);
    }
  }

  #change(member: TestMember): void {
    const changes = Array.from({ length: 1 + this.#random.below(3) }, (): MemberChange => ({
      kind: this.#pick(['addVoter', 'addVoter', 'addLearner', 'remove'] as const),
      id: this.#pick([...this.#disks.keys()]),
    }));
    member.core.proposeConfiguration({ changes, context: '' });
  }

  /** Liveness: with everything repaired, a new proposal gets applied by all voters. */
  heal(): void {
    this.#cut.clear();
    this.#asleep.clear();
    for (const member of this.members) {
      member.diskHeld = member.applyHeld = false;
      member.finishWrite();
      member.applyAll();
    }
    const value = new TextEncoder().encode('healed');
    for (let round = 0; round < SETTLE_ROUNDS_MAX; round += 1) {
      this.#quietRound();
      const leader = this.members.find(
        ({ core }) => core.role === 'leader' && core.status().transferee === 0,
      );
      if (round % 10 === 0 && round < SETTLE_ROUNDS_MAX / 2) leader?.core.propose(value);
    }
    this.invariants.checkLogs(this.members);
    const { history } = this.invariants;
    const last = history.findLast((entry) => new TextDecoder().decode(entry.data) === 'healed');
    assert(last !== undefined, 'nothing was committed after everything was repaired');
    const leader = this.members.find(({ core }) => core.role === 'leader');
    assert(leader !== undefined, 'no leader after everything was repaired');
    for (const id of leader.core.configuration.voters) {
      const applied = this.#members.get(id)?.disk.appliedIndex ?? 0;
      assert(applied === leader.disk.appliedIndex, `voter ${id} stays behind at ${applied}`);
    }
  }

  #quietRound(): void {
    for (const member of this.members) {
      member.core.tick();
      for (const peer of member.core.status().peers) {
        if (peer.state === 'snapshot' && peer.recentActive) member.core.reportSnapshot(peer.id, false);
      }
      member.pump();
    }
    for (const packet of this.#packets.splice(0)) this.#receive(packet);
    for (const each of this.members) this.invariants.observeLeader(each);
  }
}
