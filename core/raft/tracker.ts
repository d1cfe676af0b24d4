import type { RaftBounds } from './bounds.ts';
import { membersOf } from './configuration.ts';
import { Progress } from './progress.ts';
import { isVoter, majorityValue } from './quorum.ts';
import type { Configuration, MemberId } from './types.ts';

const matchOf = (progress: Progress): number => progress.match;
const readAckOf = (progress: Progress): number => progress.readAck;
const activeOf = (progress: Progress): number => (progress.recentActive ? 1 : 0);

/** The configuration in force and what is known about each of its members. */
export class Tracker {
  readonly #bounds: RaftBounds;
  readonly #byId = new Map<MemberId, Progress>();
  readonly #scratch: number[] = [];
  #configuration: Configuration;
  #all: Progress[] = [];
  #incoming: Progress[] = [];
  #outgoing: Progress[] = [];

  constructor(options: {
    readonly configuration: Configuration;
    readonly bounds: RaftBounds;
    readonly lastIndex: number;
  }) {
    this.#bounds = options.bounds;
    this.#configuration = options.configuration;
    this.switchTo(options.configuration, options.lastIndex);
  }

  get configuration(): Configuration {
    return this.#configuration;
  }
  /** Sorted by id. */
  get all(): readonly Progress[] {
    return this.#all;
  }

  get(id: MemberId): Progress | undefined {
    return this.#byId.get(id);
  }

  isVoter(id: MemberId): boolean {
    return isVoter(this.#configuration, id);
  }

  /** Keeps what is known about members that stay. New ones are probed from the end of the log. */
  switchTo(configuration: Configuration, lastIndex: number): void {
    const before = new Map(this.#byId);
    this.#configuration = configuration;
    this.#byId.clear();
    for (const id of membersOf(configuration)) {
      const progress = before.get(id) ?? this.#newcomer(id, lastIndex);
      progress.learner = !isVoter(configuration, id);
      this.#byId.set(id, progress);
    }
    this.#index();
  }

  #newcomer(id: MemberId, lastIndex: number): Progress {
    const progress = this.#fresh(id, Math.max(lastIndex, 1));
    // It has had no time to be heard; counted as silent, it could unseat the leader that added it.
    progress.recentActive = true;
    return progress;
  }

  /** A new term starts with no knowledge of any peer. */
  reset(lastIndex: number): void {
    for (const id of this.#byId.keys()) this.#byId.set(id, this.#fresh(id, lastIndex + 1));
    this.#index();
  }

  #fresh(id: MemberId, next: number): Progress {
    return new Progress({ id, next, learner: !isVoter(this.#configuration, id), bounds: this.#bounds });
  }

  #index(): void {
    this.#all = [...this.#byId.values()];
    this.#incoming = this.#configuration.voters.map((id) => this.#byId.get(id)!);
    this.#outgoing = this.#configuration.votersOutgoing.map((id) => this.#byId.get(id)!);
  }

  /** Highest index that a quorum has on disk. */
  committed(): number {
    return this.#quorum(matchOf);
  }

  /** Highest read round that a quorum has confirmed. */
  readRound(): number {
    return this.#quorum(readAckOf);
  }

  /** A quorum has the entry at `index` and has heard of its commit by round `round`. */
  knownTo({ index, round }: { readonly index: number; readonly round: number }): boolean {
    return this.#quorum((progress) => (progress.match >= index && progress.readAck >= round ? 1 : 0)) >= 1;
  }

  quorumActive(): boolean {
    return this.#quorum(activeOf) >= 1;
  }

  #quorum(valueOf: (progress: Progress) => number): number {
    return Math.min(
      majorityValue(this.#incoming, valueOf, this.#scratch),
      majorityValue(this.#outgoing, valueOf, this.#scratch),
    );
  }
}
