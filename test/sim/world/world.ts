import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import { seededRandom, type Random } from '../../../core/base/random.ts';
import { readMemberConfig, type MemberConfig } from '../../../core/etcd/config/config.ts';
import type { MemberApi } from '../../../core/etcd/rpc/member-api.ts';
import { Truth } from './truth.ts';
import type { Mutant } from '../mutants/mutant.ts';
import { Machine } from './machine.ts';
import { SimNetwork } from './network.ts';
import { Timeline } from './timeline.ts';
import { Trace } from './trace.ts';

export const ELECTION_MS = 300;
const HEARTBEAT_MS = 30;
/** No clock counts more seconds than this in a true second, nor fewer than its inverse. */
export const CLOCK_RATE_MAX = 1.02;
const CLIENT_DELAY_MS_MAX = 4;
const SPARE_COUNT = 2;

/** What became of a call. `refused`: it certainly never reached the member. */
export type CallResult<T> =
  | { readonly kind: 'ok'; readonly value: T }
  | { readonly kind: 'failed'; readonly reason: string; readonly message: string }
  | { readonly kind: 'refused' }
  | { readonly kind: 'lost' };

export interface WorldOptions {
  readonly seed: number;
  readonly mutant?: Mutant | undefined;
  readonly isTraceEndless?: boolean;
  /** Of every member, besides those that each world draws. */
  readonly flags?: readonly string[];
}

const nameOf = (index: number): string => `m${index + 1}`;
export const peerUrl = (machine: string, moved = 0): string =>
  `http://${machine}${moved === 0 ? '' : `-${moved}`}:2380`;

/** Machines, wires, time and chance: all that members and their clients live in. */
export class World {
  readonly seed: number;
  readonly random: Random;
  readonly timeline = new Timeline();
  readonly trace: Trace;
  readonly network: SimNetwork;
  readonly truth: Truth;
  readonly machines: Machine[];
  readonly memberCount: number;
  readonly #snapshotCount: number;
  readonly #catchUpCount: number;
  readonly #isStrict: boolean;
  readonly #checkpoints: boolean;
  readonly #flags: readonly string[];
  /** Clients lose answers, too. */
  answerLossRatio = 0;
  /** Clients begin new work; when it ends they finish what they have begun. */
  #isBusy = true;
  isOver = false;

  constructor({ seed, mutant, isTraceEndless = false, flags = [] }: WorldOptions) {
    this.seed = seed;
    this.#flags = flags;
    this.random = seededRandom(seed);
    const { random, timeline } = this;
    // Neighbouring seeds begin alike: a few draws set them apart.
    for (let draw = 0; draw < 8; draw += 1) random.next();
    this.trace = new Trace(timeline, { isEndless: isTraceEndless });
    timeline.onThrown = (error) =>
      this.trace.fail('thrown', error instanceof Error ? (error.stack ?? error.message) : String(error));
    this.truth = new Truth(timeline, this.trace);
    this.network = new SimNetwork({
      timeline,
      random,
      onSend: (message) => this.truth.sent(message),
      doublesProposals: mutant?.doublesProposals ?? false,
    });
    this.network.refusalRatio = this.pick([0, 0.5, 1]);
    this.memberCount = random.below(4) === 0 ? 5 : 3;
    this.#snapshotCount = this.pick([5, 12, 50]);
    this.#catchUpCount = random.below(this.#snapshotCount);
    this.#isStrict = random.below(3) === 0;
    this.#checkpoints = random.below(2) === 0;
    const { trace, network, truth } = this;
    const parts = { timeline, trace, network, truth, mutant };
    const skew = (): number => 1 + (2 * random.next() - 1) * (CLOCK_RATE_MAX - 1);
    this.machines = Array.from(
      { length: this.memberCount + SPARE_COUNT },
      (_, index) => new Machine(nameOf(index), parts, random, { rate: skew(), wallOffsetMs: 0 }),
    );
  }

  get isBusy(): boolean {
    return this.#isBusy && !this.isDone;
  }

  rest(): void {
    this.#isBusy = false;
  }

  get isDone(): boolean {
    return this.isOver || this.trace.violation !== undefined;
  }

  chance(ratio: number): boolean {
    return this.random.next() < ratio;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.random.below(items.length)]!;
  }

  /** Any machine that belongs to the cluster, in whatever state it is. */
  pickMember(): Machine {
    return this.pick(this.machines.filter(({ config }) => config !== undefined));
  }

  between(low: number, high: number): number {
    return low + this.random.next() * (high - low);
  }

  found(): void {
    const first = this.machines.slice(0, this.memberCount);
    const cluster = first.map(({ name }) => `${name}=${peerUrl(name)}`).join(',');
    for (const machine of first) {
      machine.config = this.configOf(machine.name, {
        cluster,
        peerUrls: [peerUrl(machine.name)],
        state: 'new',
      });
      this.timeline.after(this.between(0, 50), () => machine.start());
    }
  }

  configOf(
    name: string,
    plan: {
      readonly cluster: string;
      readonly peerUrls: readonly string[];
      readonly state: 'new' | 'existing';
    },
  ): MemberConfig {
    return readMemberConfig([
      `--name=${name}`,
      `--data-dir=/${name}`,
      `--listen-peer-urls=${peerUrl(name)}`,
      `--initial-advertise-peer-urls=${plan.peerUrls.join(',')}`,
      `--listen-client-urls=http://${name}:2379`,
      `--advertise-client-urls=http://${name}:2379`,
      `--initial-cluster=${plan.cluster}`,
      `--initial-cluster-state=${plan.state}`,
      `--heartbeat-interval=${HEARTBEAT_MS}`,
      `--election-timeout=${ELECTION_MS}`,
      `--snapshot-count=${this.#snapshotCount}`,
      `--snapshot-catchup-entries=${this.#catchUpCount}`,
      `--strict-reconfig-check=${this.#isStrict}`,
      `--experimental-enable-lease-checkpoint=${this.#checkpoints}`,
      ...this.#flags,
    ]);
  }

  /** A client calls a member: the request, the answer or both may get lost, and no one waits for ever. */
  call<T>(machine: Machine, limitMs: number, run: (api: MemberApi) => Promise<T>): Promise<CallResult<T>> {
    const { timeline } = this;
    const delayMs = (): number => this.between(0.1, CLIENT_DELAY_MS_MAX);
    return new Promise((resolve) => {
      const { process } = machine;
      const late = timeline.after(limitMs, () => resolve({ kind: 'lost' }));
      const settle = (result: CallResult<T>): void => {
        if (result.kind !== 'refused' && this.chance(this.answerLossRatio)) return;
        timeline.after(delayMs(), () => {
          late.dispose();
          resolve(result);
        });
      };
      if (process === undefined) {
        settle({ kind: 'refused' });
        return;
      }
      const arrive = (): void => {
        const { api } = machine;
        if (api === undefined || machine.process !== process) {
          settle({ kind: 'refused' });
          return;
        }
        run(api).then(
          (value) => process.isAlive && settle({ kind: 'ok', value }),
          (error: unknown) =>
            process.isAlive &&
            settle({
              kind: 'failed',
              reason: error instanceof ReasonError ? error.reason : '',
              message: messageOf(error),
            }),
        );
      };
      timeline.after(delayMs(), arrive, process);
    });
  }
}
