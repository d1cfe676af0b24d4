import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { SeatDemand } from './allocation.ts';
import { dealHand } from './shuffle-sharding.ts';

/** Upstream's guess at how long a request takes, until it is over. In seconds, as virtual time is in seat-seconds. */
const ESTIMATED_SECONDS = 0.003;
/** Flows whose queues are remembered; more are dealt again. */
const HANDS_MAX = 10_000;

/** What a request is expected to cost. */
export interface Work {
  readonly initialSeats: number;
  /** Held for `finalSeconds` after the answer, while watchers are told of a change. */
  readonly finalSeats: number;
  readonly finalSeconds: number;
}

export interface QueueSetLimits {
  /** Undefined: nothing waits, and what does not fit is rejected. */
  readonly queuing:
    { readonly queues: number; readonly handSize: number; readonly lengthMax: number } | undefined;
  /** Infinite: exempt. */
  readonly seats: number;
}

export type RejectReason = 'queue-full' | 'concurrency-limit' | 'time-out';

export interface Ticket {
  readonly isExecuting: boolean;
  /** Leaves the queue: no one waits for it any more. No effect once it executes. */
  cancel(): void;
  /** Gives the seats back. Once. */
  finish(): void;
}

export interface Arrival {
  readonly work: Work;
  /** Spread evenly over 0..2^52; the same for all requests of a flow. */
  readonly hash: number;
  readonly description: unknown;
  /** Called when the request leaves its queue to execute; not when it does so immediately. */
  onDispatched(): void;
}

/** What a queue does when a request that it holds leaves. */
interface Leaving {
  cancel(request: QueuedRequest): void;
  finish(request: QueuedRequest): void;
}

class QueuedRequest implements Ticket {
  readonly #leaving: Leaving;
  readonly arrival: Arrival;
  readonly queue: Queue | undefined;
  readonly seats: number;
  readonly totalWork: number;
  readonly arrivedAtMs: number;
  readonly arrivedAtR: number;
  startedAtMs = 0;
  state: 'waiting' | 'executing' | 'over' = 'waiting';

  constructor(
    leaving: Leaving,
    arrival: Arrival,
    queue: Queue | undefined,
    at: { readonly nowMs: number; readonly currentR: number },
  ) {
    this.#leaving = leaving;
    const { initialSeats, finalSeats, finalSeconds } = arrival.work;
    this.arrival = arrival;
    this.queue = queue;
    this.seats = Math.max(initialSeats, finalSeats);
    this.totalWork = initialSeats * ESTIMATED_SECONDS + finalSeats * finalSeconds;
    this.arrivedAtMs = at.nowMs;
    this.arrivedAtR = at.currentR;
  }

  get isExecuting(): boolean {
    return this.state === 'executing';
  }

  cancel(): void {
    this.#leaving.cancel(this);
  }

  finish(): void {
    this.#leaving.finish(this);
  }
}

class Queue {
  readonly waiting: QueuedRequest[] = [];
  readonly executing = new Set<QueuedRequest>();
  /** Virtual time at which its next request starts. */
  nextDispatchR = 0;
  seatsInUse = 0;
  workWaiting = 0;

  get isActive(): boolean {
    return this.waiting.length > 0 || this.executing.size > 0;
  }
}

export interface QueueDump {
  readonly waiting: readonly RequestDump[];
  readonly executing: readonly RequestDump[];
  readonly seatsInUse: number;
  readonly nextDispatchR: number;
}

export interface RequestDump {
  readonly description: unknown;
  readonly work: Work;
  readonly arrivedAtMs: number;
  readonly startedAtMs: number;
}

const dumpOf = ({ arrival, arrivedAtMs, startedAtMs }: QueuedRequest): RequestDump => ({
  description: arrival.description,
  work: arrival.work,
  arrivedAtMs,
  startedAtMs,
});

/**
 * The queues of one priority level: fair queuing of requests that take several seats for a time that is known only
 * afterwards (KEP-1040). A flow has a hand of queues and waits in the one with the least work; the queue whose next
 * request would finish first in virtual time goes first. Virtual time passes at the rate at which each active queue
 * would be served if all were served evenly. Pure: time comes from the clock.
 */
export class QueueSet {
  readonly #clock: Clock;
  readonly demand: SeatDemand;
  readonly counts = {
    waiting: 0,
    executing: 0,
    seatsInUse: 0,
    seatsWaiting: 0,
    dispatched: 0,
    rejected: 0,
    timedOut: 0,
  };
  #limits: QueueSetLimits;
  #queues: Queue[] = [];
  /** The queues of a flow by its hash: dealt once, as long as the number of queues stays. */
  readonly #hands = new Map<number, readonly number[]>();
  readonly #leaving: Leaving = {
    cancel: (request) => this.#cancel(request),
    finish: (request) => this.#finish(request),
  };
  readonly #queueless = new Set<QueuedRequest>();
  #currentR = 0;
  #syncedAtMs: number;
  #activeQueues = 0;
  #enqueues = 0;
  #robin = 0;

  constructor(clock: Clock, limits: QueueSetLimits) {
    this.#clock = clock;
    this.#syncedAtMs = clock.monotonicMs();
    this.demand = new SeatDemand(this.#syncedAtMs);
    this.#limits = limits;
    this.configure(limits);
  }

  get limits(): QueueSetLimits {
    return this.#limits;
  }

  get isIdle(): boolean {
    return this.counts.waiting === 0 && this.counts.executing === 0;
  }

  get currentR(): number {
    return this.#currentR;
  }

  /** Queues that are too many go when they are empty; requests in them are served first. */
  configure(limits: QueueSetLimits): void {
    this.#sync();
    this.#limits = limits;
    this.#hands.clear();
    const wanted = limits.queuing?.queues ?? 0;
    while (this.#queues.length < wanted) this.#queues.push(new Queue());
    this.#trimQueues();
    this.#dispatch();
  }

  start(arrival: Arrival): Ticket | RejectReason {
    const nowMs = this.#sync();
    const { queuing } = this.#limits;
    if (queuing === undefined) {
      const request = new QueuedRequest(this.#leaving, arrival, undefined, {
        nowMs,
        currentR: this.#currentR,
      });
      if (!this.#hasRoom(request.seats)) {
        this.counts.rejected += 1;
        return 'concurrency-limit';
      }
      this.#queueless.add(request);
      this.#execute(request, nowMs);
      return request;
    }
    const queue = this.#pick(arrival.hash, queuing);
    if (this.counts.seatsInUse >= this.#limits.seats && queue.waiting.length >= queuing.lengthMax) {
      this.counts.rejected += 1;
      return 'queue-full';
    }
    const request = new QueuedRequest(this.#leaving, arrival, queue, { nowMs, currentR: this.#currentR });
    if (!queue.isActive) {
      // An idle queue gets no credit for the time in which it had nothing to do.
      queue.nextDispatchR = this.#currentR;
      this.#activeQueues += 1;
    }
    // While no request waits, there is no queue to choose.
    if (this.counts.waiting === 0 && this.#hasRoom(request.seats)) {
      this.#seat(request, queue, nowMs);
      return request;
    }
    queue.waiting.push(request);
    queue.workWaiting += request.totalWork;
    this.counts.waiting += 1;
    this.counts.seatsWaiting += request.seats;
    this.#bound(queue);
    this.#noteDemand(nowMs);
    this.#dispatch(request);
    return request;
  }

  dump(): { readonly queues: readonly QueueDump[]; readonly queueless: readonly RequestDump[] } {
    return {
      queues: this.#queues.map(({ waiting, executing, seatsInUse, nextDispatchR }) => ({
        waiting: waiting.map(dumpOf),
        executing: [...executing].map(dumpOf),
        seatsInUse,
        nextDispatchR,
      })),
      queueless: [...this.#queueless].map(dumpOf),
    };
  }

  /** Virtual time passes at the rate that the active queues share. Returns the real time. */
  #sync(): number {
    const nowMs = this.#clock.monotonicMs();
    const seconds = (nowMs - this.#syncedAtMs) / 1000;
    this.#syncedAtMs = nowMs;
    if (this.#activeQueues === 0 || seconds <= 0) return nowMs;
    const { seatsInUse, seatsWaiting } = this.counts;
    this.#currentR +=
      (Math.min(seatsInUse + seatsWaiting, this.#limits.seats) / this.#activeQueues) * seconds;
    return nowMs;
  }

  #handOf(hash: number, { queues, handSize }: NonNullable<QueueSetLimits['queuing']>): readonly number[] {
    let hand = this.#hands.get(hash);
    if (hand === undefined) {
      hand = dealHand(hash, queues, Math.min(handSize, queues));
      if (this.#hands.size >= HANDS_MAX) this.#hands.clear();
      this.#hands.set(hash, hand);
    }
    return hand;
  }

  #pick(hash: number, queuing: NonNullable<QueueSetLimits['queuing']>): Queue {
    const hand = this.#handOf(hash, queuing);
    const offset = this.#enqueues % hand.length;
    this.#enqueues += 1;
    let best: Queue | undefined;
    for (let at = 0; at < hand.length; at += 1) {
      const queue = this.#queues[hand[(offset + at) % hand.length]!]!;
      if (best === undefined || queue.workWaiting < best.workWaiting) best = queue;
    }
    assert(best, 'a hand has a card');
    return best;
  }

  #hasRoom(seats: number): boolean {
    // A request that is wider than the level must get through some time: alone.
    if (seats > this.#limits.seats) return this.counts.executing === 0;
    return this.counts.seatsInUse + seats <= this.#limits.seats;
  }

  /** `arriving` is told by the return of `start`, everyone else by a call. */
  #dispatch(arriving?: QueuedRequest): void {
    while (this.counts.waiting > 0 && this.counts.seatsInUse < this.#limits.seats) {
      const queue = this.#nextQueue();
      const request = queue?.waiting[0];
      if (!queue || !request || !this.#hasRoom(request.seats)) return;
      this.#leave(request);
      this.#seat(request, queue, this.#clock.monotonicMs());
      this.#bound(queue);
      if (request !== arriving) request.arrival.onDispatched();
    }
  }

  /** The queue whose oldest request would finish first; after the last one served where they are alike. */
  #nextQueue(): Queue | undefined {
    let best: Queue | undefined;
    let bestFinish = Infinity;
    let bestAt = this.#robin;
    const count = this.#queues.length;
    for (let step = 1; step <= count; step += 1) {
      const at = (this.#robin + step) % count;
      const queue = this.#queues[at]!;
      const oldest = queue.waiting[0];
      if (oldest === undefined) continue;
      const finish = queue.nextDispatchR + oldest.totalWork;
      if (finish >= bestFinish) continue;
      [best, bestFinish, bestAt] = [queue, finish, at];
    }
    this.#robin = bestAt;
    return best;
  }

  #seat(request: QueuedRequest, queue: Queue, nowMs: number): void {
    queue.executing.add(request);
    queue.seatsInUse += request.seats;
    queue.nextDispatchR += request.totalWork;
    this.#execute(request, nowMs);
  }

  #execute(request: QueuedRequest, nowMs: number): void {
    request.state = 'executing';
    request.startedAtMs = nowMs;
    this.counts.executing += 1;
    this.counts.dispatched += 1;
    this.counts.seatsInUse += request.seats;
    this.#noteDemand(nowMs);
  }

  #leave(request: QueuedRequest): void {
    const queue = request.queue!;
    const at = queue.waiting.indexOf(request);
    queue.waiting.splice(at, 1);
    queue.workWaiting = queue.waiting.length === 0 ? 0 : queue.workWaiting - request.totalWork;
    this.counts.waiting -= 1;
    this.counts.seatsWaiting -= request.seats;
  }

  #cancel(request: QueuedRequest): void {
    if (request.state !== 'waiting') return;
    const nowMs = this.#sync();
    request.state = 'over';
    this.#leave(request);
    this.counts.rejected += 1;
    this.counts.timedOut += 1;
    if (!request.queue!.isActive) this.#activeQueues -= 1;
    this.#bound(request.queue!);
    this.#noteDemand(nowMs);
    this.#trimQueues();
    this.#dispatch();
  }

  #finish(request: QueuedRequest): void {
    if (request.state !== 'executing') return;
    const nowMs = this.#sync();
    request.state = 'over';
    this.counts.executing -= 1;
    const { queue } = request;
    const { initialSeats, finalSeats, finalSeconds } = request.arrival.work;
    if (queue) {
      queue.executing.delete(request);
      if (!queue.isActive) this.#activeQueues -= 1;
      // The guess was charged when it started: now it is known how long it took.
      const tookSeconds = (nowMs - request.startedAtMs) / 1000;
      queue.nextDispatchR -= initialSeats * (ESTIMATED_SECONDS - tookSeconds);
      this.#bound(queue);
    } else this.#queueless.delete(request);
    if (finalSeats > 0 && finalSeconds > 0)
      this.#clock.after(finalSeconds * 1000, () => this.#release(request, this.#sync()));
    else this.#release(request, nowMs);
  }

  #release(request: QueuedRequest, nowMs: number): void {
    this.counts.seatsInUse -= request.seats;
    if (request.queue) request.queue.seatsInUse -= request.seats;
    this.#noteDemand(nowMs);
    this.#trimQueues();
    this.#dispatch();
  }

  /** A queue never starts earlier than its oldest request came. */
  #bound(queue: Queue): void {
    const oldest = queue.waiting[0];
    if (oldest && queue.nextDispatchR < oldest.arrivedAtR) queue.nextDispatchR = oldest.arrivedAtR;
  }

  #noteDemand(nowMs: number): void {
    this.demand.set(this.counts.seatsInUse + this.counts.seatsWaiting, nowMs);
  }

  #trimQueues(): void {
    const wanted = this.#limits.queuing?.queues ?? 0;
    if (this.#queues.length <= wanted) return;
    while (this.#queues.length > wanted && !this.#queues.at(-1)!.isActive) this.#queues.pop();
    if (this.#robin >= this.#queues.length) this.#robin = 0;
  }
}
