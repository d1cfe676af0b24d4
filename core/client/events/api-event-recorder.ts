import { BoundedQueue } from '../../base/bounded-queue.ts';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import type { KubernetesObject } from '../../api/meta/object-meta.ts';
import { isAlreadyExists, isNotFound, isStatusError } from '../../api/meta/status.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { Client } from '../client.ts';
import { EVENT, type Event } from '../kinds.ts';
import { isFenced } from '../rest/errors.ts';
import { pause } from '../rest/pause.ts';
import type { TokenBucket } from '../rest/token-bucket.ts';
import { EventCorrelator } from './event-correlator.ts';
import type { EventOptions, EventRecorder, EventType } from './event.ts';

const QUEUE_EVENTS_MAX = 1000;
const BATCH_EVENTS_MAX = 50;
/** client-go's: two minutes of trying. */
const TRIES_MAX = 12;
const RETRY_PAUSE_MS = 10_000;

export interface ApiEventRecorderOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Who tells: `kubelet`, `deployment-controller`. */
  readonly component: string;
  /** The node it tells of, for components that run on one. */
  readonly host?: string;
  /** Paces the writes; recorders that share one share its rate. */
  readonly limiter?: TokenBucket;
}

/** Writes events one after the other, behind a queue that drops what it has no room for. */
export class ApiEventRecorder implements EventRecorder {
  readonly #options: ApiEventRecorderOptions;
  readonly #queue = new BoundedQueue<Event>({ itemsMax: QUEUE_EVENTS_MAX, overflow: 'refuse' });
  readonly #correlator: EventCorrelator;
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;
  #droppedCount = 0;
  #lastNameMs = 0;

  constructor(options: ApiEventRecorderOptions) {
    this.#options = options;
    this.#correlator = new EventCorrelator(options.clock);
    this.#running = this.#run();
  }

  /** Events that no one will see: spam, no room, or a server that was away too long. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  event(
    object: KubernetesObject,
    type: EventType,
    reason: string,
    message: string,
    options: EventOptions = {},
  ): void {
    if (!object.kind || !object.metadata?.name) {
      this.#options.log.write('error', 'dropped an event for an object without kind or name', {
        reason,
      });
      this.#droppedCount += 1;
      return;
    }
    if (!this.#queue.push(this.#make(object, { type, reason, message, ...options }))) this.#droppedCount += 1;
  }

  /** Takes no more; resolves when what is queued is written, immediately with `now`. */
  async stop(how: 'drain' | 'now' = 'drain'): Promise<void> {
    this.#queue.close();
    if (how === 'now') this.#stop.abort();
    await this.#running;
  }

  #make(
    object: KubernetesObject,
    said: EventOptions & { readonly type: EventType; readonly reason: string; readonly message: string },
  ): Event {
    const { clock, component, host } = this.#options;
    const { name = '', namespace, uid, resourceVersion } = object.metadata ?? {};
    const now = formatTime(clock.nowMs());
    return {
      metadata: {
        name: `${name}.${this.#nameSuffix()}`,
        // Events about what has no namespace are kept in `default`.
        namespace: namespace ?? 'default',
        ...(said.annotations && { annotations: { ...said.annotations } }),
      },
      involvedObject: {
        kind: object.kind ?? '',
        name,
        ...(namespace && { namespace }),
        ...(uid && { uid }),
        ...(object.apiVersion && { apiVersion: object.apiVersion }),
        ...(resourceVersion && { resourceVersion }),
        ...(said.fieldPath && { fieldPath: said.fieldPath }),
      },
      type: said.type,
      reason: said.reason,
      message: said.message,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
      source: { component, ...(host && { host }) },
      reportingComponent: component,
      reportingInstance: host ?? '',
    };
  }

  /** The time in nanoseconds as hexadecimal digits, never twice. */
  #nameSuffix(): string {
    this.#lastNameMs = Math.max(this.#options.clock.nowMs(), this.#lastNameMs + 1e-3);
    return (BigInt(Math.round(this.#lastNameMs * 1000)) * 1000n).toString(16);
  }

  async #run(): Promise<void> {
    for await (const batch of this.#queue.batches(BATCH_EVENTS_MAX))
      for (const event of batch) {
        if (this.#stop.signal.aborted) return;
        await this.#record(event);
      }
  }

  async #record(event: Event): Promise<void> {
    const { clock, random } = this.#options;
    const correlated = this.#correlator.correlate(event);
    if (correlated.action === 'drop') {
      this.#droppedCount += 1;
      return;
    }
    const patch = correlated.action === 'patch' ? correlated.patch : undefined;
    await this.#awaitTurn();
    if (this.#stop.signal.aborted) return;
    for (let tries = 1; ; tries += 1) {
      const outcome = await this.#write(correlated.event, patch, correlated.key);
      if (outcome === 'done') return;
      if (outcome === 'refused' || tries >= TRIES_MAX) break;
      // The first pause is random, so that components do not come back to a server all at the same time.
      const pauseMs = tries === 1 ? RETRY_PAUSE_MS * random.next() : RETRY_PAUSE_MS;
      await pause(clock, pauseMs, this.#stop.signal).catch(() => undefined);
      if (this.#stop.signal.aborted) break;
    }
    this.#droppedCount += 1;
  }

  async #awaitTurn(): Promise<void> {
    const { limiter, clock } = this.#options;
    const waitMs = limiter?.reserveMs() ?? 0;
    if (waitMs > 0) await pause(clock, waitMs, this.#stop.signal).catch(() => limiter?.giveBack());
  }

  async #write(event: Event, patch: object | undefined, key: string): Promise<'done' | 'refused' | 'again'> {
    const events = this.#options.client.resource(EVENT, event.metadata.namespace);
    const { signal } = this.#stop;
    try {
      if (patch) {
        try {
          const name = event.metadata.name ?? '';
          await events.patch(name, { type: 'strategic', body: patch }, { signal });
          this.#correlator.written(key, event);
          return 'done';
        } catch (error) {
          if (!isNotFound(error)) throw error;
          this.#correlator.forgotten(key);
        }
      }
      await events.create(event, { signal });
      this.#correlator.written(key, event);
      return 'done';
    } catch (error) {
      if (isAlreadyExists(error)) return 'done';
      // Anyone who stops, or is fenced, knows that what it had to tell is lost.
      if (isFenced(error) || signal.aborted) return 'refused';
      const isFinal = isStatusError(error);
      this.#options.log.write(isFinal ? 'warn' : 'info', 'failed to write an event', {
        reason: event.reason,
        error: messageOf(error),
      });
      return isFinal ? 'refused' : 'again';
    }
  }
}
