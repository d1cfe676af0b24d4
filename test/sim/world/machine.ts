import { assert } from '../../../core/base/assert.ts';
import { hasReason, messageOf } from '../../../core/base/errors.ts';
import { silentLog } from '../../../core/base/log.ts';
import type { Random } from '../../../core/base/random.ts';
import { memberApi } from '../../../core/etcd/member/api/index.ts';
import type { Member } from '../../../core/etcd/member/member.ts';
import { openMember } from '../../../core/etcd/member/open-member.ts';
import { silentObserver } from '../../../core/etcd/member/observer.ts';
import type { MemberPorts } from '../../../core/etcd/member/ports.ts';
import type { MemberConfig } from '../../../core/etcd/config/config.ts';
import type { MemberApi } from '../../../core/etcd/rpc/member-api.ts';
import { SimDisk, type TearMode } from '../../support/sim-disk.ts';
import type { Truth } from './truth.ts';
import type { Mutant } from '../mutants/mutant.ts';
import type { SimNetwork } from './network.ts';
import { Process, processClock, type ClockFault } from './process.ts';
import { SimDatabases, steppedDisk } from './storage.ts';
import type { Timeline } from './timeline.ts';
import type { Trace } from './trace.ts';
import { SimTransport, simProbe } from './transport.ts';

const SYNC_MS_MAX = 3;
const COMMIT_MS_MAX = 5;
const COMMIT_INTERVAL_MS = 30;
const SEGMENT_BYTES = 4096;
const GROWTH_BYTES = 2048;
/** A process that could not start is started again after this long. */
const START_AGAIN_MS = 300;
const EIO = 'EIO: i/o error, fdatasync';

export interface MachineWorld {
  readonly timeline: Timeline;
  readonly trace: Trace;
  readonly network: SimNetwork;
  readonly truth: Truth;
  readonly mutant: Mutant | undefined;
}

/** What a member may stop for on its own, without anything being wrong with it. */
const isExpectedFailure = (error: unknown): boolean =>
  hasReason(error, 'Removed') ||
  hasReason(error, 'NoPeer') ||
  hasReason(error, 'BadCluster') ||
  messageOf(error).includes(EIO) ||
  (error instanceof Error && error.cause !== undefined && isExpectedFailure(error.cause));

/** One machine: a disk, a clock, and at most one process that is a member of the cluster. */
export class Machine {
  readonly name: string;
  readonly clockFault: ClockFault;
  readonly #world: MachineWorld;
  readonly #random: Random;
  #disk: SimDisk;
  #databases = new SimDatabases();
  #crashInSteps: { steps: number; mode: TearMode | undefined } | undefined;
  #isCrashAfterVote = false;
  process: Process | undefined;
  member: Member | undefined;
  api: MemberApi | undefined;
  /** What it is started with; undefined while it belongs to no cluster. */
  config: MemberConfig | undefined;
  isRemoved = false;
  crashCount = 0;

  constructor(name: string, world: MachineWorld, random: Random, clockFault: ClockFault) {
    this.name = name;
    this.#world = world;
    this.#random = random;
    this.clockFault = clockFault;
    this.#disk = this.#newDisk();
  }

  get isUp(): boolean {
    return this.process !== undefined;
  }

  start(): void {
    const { config } = this;
    if (this.isUp || config === undefined || this.isRemoved) return;
    const process = new Process(this.#world.timeline);
    this.process = process;
    this.#world.trace.note(`${this.name} starts`);
    this.#run(config, process).catch((error: unknown) => this.#failed(process, error));
  }

  /** Power is lost: what was not synced is lost, kept or torn, each write on its own. */
  crash(mode?: TearMode): void {
    if (!this.isUp) return;
    this.crashCount += 1;
    this.#world.trace.note(`${this.name} crashes ${mode ?? ''}`);
    this.#end();
    this.#disk.crash(mode);
    this.#databases.crash();
  }

  /** Crashes when this many more steps of its disk or database are done. */
  crashAfterSteps(steps: number, mode?: TearMode): void {
    if (this.isUp) this.#crashInSteps = { steps, mode };
  }

  /** Crashes as soon as it has given a vote away: what it promised must still hold when it comes back. */
  crashAfterVote(): void {
    this.#isCrashAfterVote = this.isUp;
  }

  /** As if the leader had just given its place up to this one. */
  standNow(): void {
    if (this.member === undefined) return;
    const { raft, id } = this.member;
    raft.step({ kind: 'timeoutNow', from: raft.leader, to: id, term: raft.term });
    this.member.wake();
  }

  get isArmed(): boolean {
    return this.#crashInSteps !== undefined || this.#isCrashAfterVote;
  }

  disarm(): void {
    this.#crashInSteps = undefined;
    this.#isCrashAfterVote = false;
    this.#disk.forgetFailures();
  }

  failNextSync(): void {
    if (this.isUp) this.#disk.failNextSync(new Error(EIO));
  }

  /** Leaves the cluster for good; another member may be made on it later. */
  wipe(): void {
    this.#world.trace.note(`${this.name} is wiped`);
    if (this.isUp) this.#end();
    this.#disk.crash('lost');
    this.#databases.crash();
    this.#disk = this.#newDisk();
    this.#databases = new SimDatabases();
    this.config = undefined;
    this.isRemoved = false;
  }

  #newDisk(): SimDisk {
    const { timeline } = this.#world;
    return new SimDisk({
      random: this.#random,
      syncMsMax: SYNC_MS_MAX,
      clock: {
        nowMs: () => timeline.nowMs,
        monotonicMs: () => timeline.nowMs,
        after: (delayMs, run) => timeline.after(delayMs, run, this.process),
      },
    });
  }

  #end(): void {
    this.#crashInSteps = undefined;
    this.#isCrashAfterVote = false;
    this.process?.kill();
    this.#world.network.detach(this.name);
    this.process = undefined;
    this.member = undefined;
    this.api = undefined;
  }

  #step(process: Process): void {
    const armed = this.#crashInSteps;
    if (armed === undefined || process !== this.process) return;
    armed.steps -= 1;
    if (armed.steps <= 0) this.crash(armed.mode);
  }

  async #run(config: MemberConfig, process: Process): Promise<void> {
    const { truth, mutant } = this.#world;
    await mutant?.beforeStart?.(this.#disk, config.walDirectory);
    const holder: { member: Member | undefined } = { member: undefined };
    const member = await openMember(config, this.#ports(process), {
      observer: {
        ...silentObserver,
        applied: (count, index) => {
          assert(holder.member !== undefined, 'entries are applied by an open member');
          const entries = holder.member.raft.entries(index - count + 1, Infinity).slice(0, count);
          for (const entry of entries) truth.applied(this.name, entry);
        },
      },
      onFailed: (error) => this.#failed(process, error),
    });
    if (!process.isAlive) return;
    holder.member = member;
    member.machine.store.onChange((revision, events) => {
      if (process.isAlive) truth.changed(this.name, revision, events);
    });
    const api = memberApi(member);
    await member.start();
    if (!process.isAlive) return;
    this.member = member;
    this.api = mutant?.api?.(api, member) ?? api;
    mutant?.started?.(member);
  }

  #ports(process: Process): MemberPorts {
    const { timeline, network, mutant } = this.#world;
    const clock = processClock(timeline, process, this.clockFault);
    const step = (): void => this.#step(process);
    const disk = steppedDisk(this.#disk, process, step);
    const house = this.#databases.house({
      clock,
      process,
      random: this.#random,
      step,
      commitIntervalMs: COMMIT_INTERVAL_MS,
      commitMsMax: COMMIT_MS_MAX,
    });
    return {
      clock,
      random: mutant?.random?.(this.#random) ?? this.#random,
      log: silentLog,
      disk: mutant?.disk?.(disk) ?? disk,
      backends: mutant?.backends?.(house, clock) ?? house,
      walSizes: { segmentBytes: SEGMENT_BYTES, growthBytes: GROWTH_BYTES },
      transport: ({ memberId }) =>
        new SimTransport({
          id: memberId,
          machine: this.name,
          process,
          network,
          toMonotonicMs: (trueMs) => trueMs * this.clockFault.rate,
          onVoted: () => {
            if (this.#isCrashAfterVote) timeline.after(0, () => this.crash(), process);
          },
        }),
      probe: simProbe(network, this.name, process),
      defer: (run) => void timeline.after(0, run, process),
    };
  }

  #failed(process: Process, error: unknown): void {
    if (process !== this.process) return;
    const { trace, timeline } = this.#world;
    trace.note(`${this.name} stops: ${messageOf(error)}`);
    this.#end();
    if (!isExpectedFailure(error)) {
      const where = error instanceof Error ? (error.stack?.split('\n')[1]?.trim() ?? '') : '';
      trace.fail('member failed', `${this.name}: ${messageOf(error)} ${where}`);
    }
    if (hasReason(error, 'Removed')) {
      this.isRemoved = true;
      return;
    }
    // The process ends, the machine does not: what it wrote is still in the page cache.
    this.#disk.crash('whole');
    this.#databases.crash();
    timeline.after(START_AGAIN_MS, () => this.start());
  }
}
