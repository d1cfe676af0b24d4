import type { Clock } from '../../base/clock.ts';
import { every } from '../../base/every.ts';
import { DisposableStore } from '../../base/disposable.ts';
import {
  EVENT_FORCE_ACTIVATE,
  EVENT_UNSCHEDULABLE_TIMEOUT,
  EVENT_UNSCHEDULED_POD_ADD,
  type ClusterEvent,
} from '../framework/cluster-event.ts';
import type { QueuedPod } from '../framework/plugin.ts';
import type { Status } from '../framework/status.ts';
import type { SchedulerMetrics } from '../metrics/metrics.ts';
import type { Pod } from '../model/objects.ts';
import { podInfoOf, type PodInfo } from '../model/pod-info.ts';
import { InFlightEvents, type InFlightEvent } from './in-flight-events.ts';
import { KeyedHeap } from './keyed-heap.ts';
import { Nominator } from './nominator.ts';
import { podChanges } from './object-changes.ts';
import { queuedPod, type QueuedPodInfo } from './queued-pod.ts';
import type { QueueingHints, Strategy } from './queueing-hints.ts';

export interface SchedulingQueueOptions {
  readonly clock: Clock;
  readonly metrics: SchedulerMetrics;
  readonly less: (a: QueuedPod, b: QueuedPod) => boolean;
  readonly hints: QueueingHints;
  /** PreEnqueue of the pod's profile. */
  readonly preEnqueue: (pod: PodInfo) => Status | undefined;
  readonly podInitialBackoffSeconds: number;
  readonly podMaxBackoffSeconds: number;
  readonly unschedulableStayMaxMs?: number;
}

/** No one stays forgotten longer than this, whatever the hints said. */
export const UNSCHEDULABLE_STAY_MAX_MS = 5 * 60_000;
const FLUSH_UNSCHEDULABLE_MS = 30_000;
const FLUSH_BACKOFF_MS = 1000;

const EVENT_BACKOFF_COMPLETE = 'BackoffComplete';
const EVENT_SCHEDULE_FAILURE = 'ScheduleAttemptFailure';

/**
 * Pods that wait for a node. Active ones are popped by priority; those that failed a moment ago sit out their
 * back-off; those that fit nowhere wait for an event that may change that.
 */
export class SchedulingQueue {
  readonly nominator = new Nominator();
  readonly #options: SchedulingQueueOptions;
  readonly #active: KeyedHeap<QueuedPodInfo>;
  readonly #backoff: KeyedHeap<QueuedPodInfo>;
  readonly #unschedulable = new Map<string, QueuedPodInfo>();
  readonly #inFlight = new InFlightEvents();
  readonly #timers = new DisposableStore();
  #waiting: ((queued: QueuedPodInfo | undefined) => void) | undefined;
  #closed = false;

  constructor(options: SchedulingQueueOptions) {
    this.#options = options;
    const keyOf = ({ uid }: QueuedPodInfo): string => uid;
    this.#active = new KeyedHeap({ keyOf, less: options.less });
    this.#backoff = new KeyedHeap({ keyOf, less: (a, b) => this.#backoffEndMs(a) < this.#backoffEndMs(b) });
  }

  /** Starts the flushes; `close` ends them. */
  start(): void {
    const { clock } = this.#options;
    this.#timers.add(every(clock, FLUSH_BACKOFF_MS, () => Promise.resolve(this.flushBackoffCompleted())));
    this.#timers.add(every(clock, FLUSH_UNSCHEDULABLE_MS, () => Promise.resolve(this.flushUnschedulable())));
  }

  close(): void {
    this.#closed = true;
    this.#timers.dispose();
    this.#waiting?.(undefined);
    this.#waiting = undefined;
  }

  get counts(): {
    readonly active: number;
    readonly backoff: number;
    readonly unschedulable: number;
    readonly gated: number;
  } {
    let gated = 0;
    for (const { gatingPlugin } of this.#unschedulable.values()) if (gatingPlugin !== undefined) gated += 1;
    return {
      active: this.#active.size,
      backoff: this.#backoff.size,
      unschedulable: this.#unschedulable.size - gated,
      gated,
    };
  }

  pending(): readonly QueuedPodInfo[] {
    return [...this.#active.list(), ...this.#backoff.list(), ...this.#unschedulable.values()];
  }

  add(info: PodInfo): void {
    if (this.#inFlight.has(info.uid)) return;
    this.nominator.set(info);
    this.#remove(info.uid);
    this.#toActive(queuedPod(info, this.#options.clock.monotonicMs()), EVENT_UNSCHEDULED_POD_ADD.label);
  }

  update(before: Pod, after: Pod): void {
    const info = podInfoOf(after);
    this.nominator.update(info);
    const changes = podChanges(before, after, 'TargetPod');
    if (this.#inFlight.has(info.uid)) {
      for (const event of changes) this.#inFlight.record({ event, before, after });
      return;
    }
    for (const heap of [this.#active, this.#backoff]) {
      const queued = heap.get(info.uid);
      if (!queued) continue;
      queued.info = info;
      heap.set(queued);
      return;
    }
    const queued = this.#unschedulable.get(info.uid);
    if (!queued) {
      this.add(info);
      return;
    }
    queued.info = info;
    for (const event of changes) {
      const strategy = this.#options.hints.strategyFor(queued, { event, before, after });
      if (strategy === 'skip') continue;
      this.#unschedulable.delete(queued.uid);
      this.#requeue(queued, strategy, event.label);
      return;
    }
  }

  delete(uid: string): void {
    this.nominator.delete(uid);
    this.#remove(uid);
  }

  /** The next pod, as soon as there is one; undefined once closed. One caller at a time. */
  pop(): Promise<QueuedPodInfo | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const next = this.#take();
    return next ? Promise.resolve(next) : new Promise((resolve) => (this.#waiting = resolve));
  }

  /** The pod's attempt is over: bound, gone, or back in the queue. */
  done(uid: string): void {
    this.#inFlight.done(uid);
  }

  /** Puts a pod back whose attempt failed. `queued` says which plugins rejected it, none for an error. */
  addUnschedulable(queued: QueuedPodInfo): void {
    const { uid } = queued;
    if (this.#active.has(uid) || this.#backoff.has(uid) || this.#unschedulable.has(uid)) return;
    queued.timestampMs = this.#options.clock.monotonicMs();
    const strategy = this.#strategyForInFlight(queued);
    this.#requeue(queued, strategy, EVENT_SCHEDULE_FAILURE);
    this.nominator.update(queued.info);
    this.#inFlight.done(uid);
  }

  /** Something changed: pods that were waiting for it come back. */
  moveAll(event: ClusterEvent, before: unknown, after: unknown, mayMove?: (info: PodInfo) => boolean): void {
    if (!this.#options.hints.isOfInterest(event)) return;
    const happened: InFlightEvent = { event, before, after };
    this.#inFlight.record(happened);
    for (const queued of [...this.#unschedulable.values()]) {
      if (mayMove && !mayMove(queued.info)) continue;
      const strategy = this.#options.hints.strategyFor(queued, happened);
      if (strategy === 'skip') continue;
      this.#unschedulable.delete(queued.uid);
      this.#requeue(queued, strategy, event.label);
    }
  }

  /** Immediately, without back-off. Pods in their cycle get it as an event. */
  activate(uids: readonly string[]): void {
    for (const uid of uids) {
      if (this.#active.has(uid)) continue;
      if (this.#inFlight.has(uid)) {
        this.#inFlight.record({
          event: EVENT_FORCE_ACTIVATE,
          before: undefined,
          after: { metadata: { uid } },
        });
        continue;
      }
      const queued = this.#backoff.delete(uid) ?? this.#unschedulable.get(uid);
      this.#unschedulable.delete(uid);
      if (queued) this.#toActive(queued, EVENT_FORCE_ACTIVATE.label);
    }
  }

  flushBackoffCompleted(): void {
    const now = this.#options.clock.monotonicMs();
    for (let next = this.#backoff.peek(); next; next = this.#backoff.peek()) {
      if (this.#backoffEndMs(next) > now) return;
      this.#backoff.pop();
      this.#toActive(next, EVENT_BACKOFF_COMPLETE);
    }
  }

  flushUnschedulable(): void {
    const now = this.#options.clock.monotonicMs();
    const stayMaxMs = this.#options.unschedulableStayMaxMs ?? UNSCHEDULABLE_STAY_MAX_MS;
    for (const queued of [...this.#unschedulable.values()]) {
      if (queued.gatingPlugin !== undefined) continue;
      if (now - queued.timestampMs <= stayMaxMs) continue;
      this.#unschedulable.delete(queued.uid);
      this.#requeue(queued, 'after-backoff', EVENT_UNSCHEDULABLE_TIMEOUT.label);
    }
  }

  backoffMs({ attempts }: QueuedPodInfo): number {
    if (attempts === 0) return 0;
    const { podInitialBackoffSeconds, podMaxBackoffSeconds } = this.#options;
    return Math.min(podInitialBackoffSeconds * 2 ** (attempts - 1), podMaxBackoffSeconds) * 1000;
  }

  #backoffEndMs(queued: QueuedPodInfo): number {
    return queued.timestampMs + this.backoffMs(queued);
  }

  #strategyForInFlight(queued: QueuedPodInfo): Strategy {
    if (queued.unschedulablePlugins.size + queued.pendingPlugins.size === 0) return 'after-backoff';
    const events = this.#inFlight.since(queued.uid);
    if (!events) return 'after-backoff';
    let best: Strategy = 'skip';
    for (const event of events) {
      const strategy = this.#options.hints.strategyFor(queued, event);
      if (strategy === 'immediately') return strategy;
      if (strategy === 'after-backoff') best = strategy;
    }
    return best;
  }

  #requeue(queued: QueuedPodInfo, strategy: Strategy, label: string): void {
    if (strategy === 'skip') {
      this.#unschedulable.set(queued.uid, queued);
      this.#count('unschedulable', label);
    } else if (
      strategy === 'after-backoff' &&
      this.#backoffEndMs(queued) > this.#options.clock.monotonicMs()
    ) {
      this.#backoff.set(queued);
      this.#count('backoff', label);
    } else this.#toActive(queued, label);
  }

  #toActive(queued: QueuedPodInfo, label: string): void {
    const gate = this.#options.preEnqueue(queued.info);
    queued.gatingPlugin = gate?.plugin;
    if (gate) {
      queued.unschedulablePlugins = new Set([...queued.unschedulablePlugins, gate.plugin]);
      this.#unschedulable.set(queued.uid, queued);
      this.#count('unschedulable', label);
      return;
    }
    this.#active.set(queued);
    this.#count('active', label);
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    waiting(this.#take());
  }

  #take(): QueuedPodInfo | undefined {
    const next = this.#active.pop();
    if (!next) return undefined;
    next.attempts += 1;
    next.initialAttemptMs ??= this.#options.clock.monotonicMs();
    this.#inFlight.start(next.uid);
    return next;
  }

  #remove(uid: string): void {
    this.#active.delete(uid);
    this.#backoff.delete(uid);
    this.#unschedulable.delete(uid);
  }

  #count(queue: 'active' | 'backoff' | 'unschedulable', label: string): void {
    this.#options.metrics.queueIncomingPods.labels(queue, label).inc();
  }
}
