import type { Clock } from '../../../base/clock.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import type { Random } from '../../../base/random.ts';
import { WatchRequest, WatchResponse } from '../../../etcd/proto/index.ts';
import type { Event } from '../../../etcd/proto/index.ts';
import type { Balancer } from './balancer.ts';
import { EtcdClientError, errorOfStatus, GRPC_CODE } from './errors.ts';
import type { GrpcTarget } from '../../../base/node/grpc/call.ts';
import { encodeMessage, openCall } from './grpc-call.ts';
import type { ClientStream } from '../../../base/node/http2/client/connection.ts';
import { METHOD } from './methods.ts';

const REOPEN_PAUSE_MS_MIN = 20;
const REOPEN_PAUSE_MS_MAX = 1_000;
/** Fragments of one answer that are put together; a revision larger than this is no etcd of ours or theirs. */
const FRAGMENT_EVENTS_MAX = 1_000_000;
/** A member with watches that are behind leaves a progress request unanswered; after this time another one is sent. */
const PROGRESS_ANSWER_MS_MAX = 100;
/** What speaks for all watches of a stream. */
const ALL_WATCHES = -1n;

export interface WatchRange {
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  /** The first revision wanted; 0 is what comes next. */
  readonly startRevision: number;
  readonly prevKv: boolean;
}

export interface WatchHandlers {
  /** All events up to `revision` have been seen with these; never a part of a revision. */
  onEvents(events: readonly Event[], revision: number): void;
  /** Nothing of this range happened up to `revision` that was not told. */
  onProgress?(revision: number): void;
  /** The watch is over and will not resume: Compacted, refused, or the client was closed. */
  onEnd(error: EtcdClientError): void;
}

class Watch {
  readonly range: WatchRange;
  readonly handlers: WatchHandlers;
  readonly id: bigint;
  nextRevision: number;
  created = false;
  fragments: Event[] = [];

  constructor(id: bigint, range: WatchRange, handlers: WatchHandlers) {
    this.id = id;
    this.range = range;
    this.handlers = handlers;
    this.nextRevision = range.startRevision;
  }
}

/**
 * All watches of a client on one stream. When the stream is lost, every watch is created again on another member
 * from the revision after the last one it has told: nothing is missed and nothing told twice.
 */
export class WatchGroup {
  readonly #balancer: Balancer;
  readonly #options: { readonly clock: Clock; readonly random: Random; readonly log: Log };
  readonly #watches = new Map<bigint, Watch>();
  #stream: { readonly call: ClientStream; readonly target: GrpcTarget } | undefined;
  #lastId = 0n;
  #retry: Disposable | undefined;
  #failures = 0;
  #lost: GrpcTarget | undefined;
  #closed = false;
  #progressAskedAtMs: number | undefined;
  #isProgressWanted = false;

  constructor(
    balancer: Balancer,
    options: { readonly clock: Clock; readonly random: Random; readonly log: Log },
  ) {
    this.#balancer = balancer;
    this.#options = options;
  }

  watch(range: WatchRange, handlers: WatchHandlers): Disposable {
    if (this.#closed) throw new EtcdClientError('Closed', 'the etcd client was closed', { untouched: true });
    // Ids of our own, never used twice on any stream: late answers to a cancelled watch reach no one.
    this.#lastId += 1n;
    const watch = new Watch(this.#lastId, range, handlers);
    this.#watches.set(watch.id, watch);
    if (this.#stream === undefined) this.#open();
    else this.#create(watch);
    return toDisposable(() => this.#cancel(watch));
  }

  /**
   * One request is in progress at a time, however many callers wait. Its answer may be older than what a later caller has
   * seen, so another one follows it for all who called in the meantime.
   */
  requestProgress(): void {
    const nowMs = this.#options.clock.monotonicMs();
    const askedAtMs = this.#progressAskedAtMs;
    if (askedAtMs !== undefined && nowMs - askedAtMs < PROGRESS_ANSWER_MS_MAX) {
      this.#isProgressWanted = true;
      return;
    }
    this.#isProgressWanted = false;
    if (this.#stream === undefined) return;
    this.#progressAskedAtMs = nowMs;
    this.#send({ progressRequest: {} });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#retry?.dispose();
    this.#stream?.call.cancel('the client was closed');
    for (const watch of [...this.#watches.values()])
      this.#end(watch, new EtcdClientError('Closed', 'the etcd client was closed'));
  }

  #open(): void {
    if (this.#closed || this.#stream !== undefined || this.#retry !== undefined || this.#watches.size === 0)
      return;
    const target = this.#balancer.pick(this.#lost);
    if (target === undefined) {
      this.#retry = this.#balancer.onceChanged(() => {
        this.#retry = undefined;
        this.#open();
      });
      return;
    }
    let ended = false;
    const call = openCall(target, METHOD.watch, {
      onMessage: (bytes) => this.#onResponse(WatchResponse.decode(bytes)),
      onEnd: (error) => {
        ended = true;
        this.#onLost(target, error);
      },
    });
    if (ended) return;
    this.#stream = { call, target };
    for (const watch of this.#watches.values()) this.#create(watch);
  }

  #onLost(target: GrpcTarget, error: EtcdClientError | undefined): void {
    this.#stream = undefined;
    this.#progressAskedAtMs = undefined;
    this.#lost = target;
    for (const watch of this.#watches.values()) {
      watch.created = false;
      watch.fragments = [];
    }
    if (this.#closed || this.#watches.size === 0) return;
    const { clock, random, log } = this.#options;
    const pauseMs = Math.min(REOPEN_PAUSE_MS_MAX, REOPEN_PAUSE_MS_MIN * 2 ** Math.min(this.#failures, 10));
    this.#failures += 1;
    log.write('info', 'etcd watch stream was lost and is opened again', {
      why: error === undefined ? 'ended by the server' : messageOf(error),
      watches: this.#watches.size,
    });
    this.#retry?.dispose();
    this.#retry = clock.after(pauseMs * (0.8 + 0.4 * random.next()), () => {
      this.#retry = undefined;
      this.#open();
    });
  }

  #create(watch: Watch): void {
    this.#send({
      createRequest: {
        key: watch.range.key,
        rangeEnd: watch.range.rangeEnd,
        startRevision: watch.nextRevision,
        prevKv: watch.range.prevKv,
        progressNotify: true,
        fragment: true,
        watchId: watch.id,
      },
    });
  }

  #cancel(watch: Watch): void {
    if (!this.#watches.delete(watch.id)) return;
    if (this.#watches.size > 0) return this.#send({ cancelRequest: { watchId: watch.id } });
    this.#retry?.dispose();
    this.#retry = undefined;
    this.#stream?.call.cancel('no watch is left');
  }

  #send(request: Parameters<typeof WatchRequest.encode>[0]): void {
    this.#stream?.call.write(encodeMessage(WatchRequest, request), false);
  }

  #onResponse(response: WatchResponse): void {
    const revision = response.header?.revision ?? 0;
    if (response.watchId === ALL_WATCHES && !response.created && !response.canceled) {
      // A watch that the server has not confirmed yet was not asked when this was said.
      for (const watch of [...this.#watches.values()]) if (watch.created) this.#progress(watch, revision);
      this.#progressAskedAtMs = undefined;
      if (this.#isProgressWanted) this.requestProgress();
      return;
    }
    const watch =
      response.watchId === ALL_WATCHES ? this.#oldestUnconfirmed() : this.#watches.get(response.watchId);
    if (watch === undefined) return;
    if (response.canceled) return this.#onCancelled(watch, response);
    if (response.created) {
      watch.created = true;
      this.#failures = 0;
      if (watch.nextRevision === 0) watch.nextRevision = revision + 1;
    }
    if (response.fragment || watch.fragments.length > 0) {
      for (const event of response.events) watch.fragments.push(event);
      if (watch.fragments.length > FRAGMENT_EVENTS_MAX)
        return this.#end(watch, new EtcdClientError('Internal', 'one revision of etcd has too many events'));
      if (response.fragment) return;
    }
    const events = watch.fragments.length > 0 ? watch.fragments : response.events;
    watch.fragments = [];
    if (events.length > 0) return this.#events(watch, events);
    if (!response.created) this.#progress(watch, revision);
  }

  /** Creations are answered in order, and a refused one without its id. */
  #oldestUnconfirmed(): Watch | undefined {
    for (const watch of this.#watches.values()) if (!watch.created) return watch;
    return undefined;
  }

  #events(watch: Watch, all: readonly Event[]): void {
    const last = all.at(-1)?.kv?.modRevision ?? 0;
    // A member that restarted may repeat what another one told before.
    const events =
      (all[0]?.kv?.modRevision ?? 0) >= watch.nextRevision
        ? all
        : all.filter((event) => (event.kv?.modRevision ?? 0) >= watch.nextRevision);
    if (events.length === 0) return;
    watch.nextRevision = last + 1;
    watch.handlers.onEvents(events, last);
  }

  #progress(watch: Watch, revision: number): void {
    if (revision + 1 < watch.nextRevision) return;
    watch.nextRevision = revision + 1;
    watch.handlers.onProgress?.(revision);
  }

  #onCancelled(watch: Watch, response: WatchResponse): void {
    if (response.compactRevision > 0)
      return this.#end(
        watch,
        new EtcdClientError('Compacted', 'etcdserver: mvcc: required revision has been compacted'),
      );
    const text = response.cancelReason === '' ? 'etcd cancelled the watch' : response.cancelReason;
    this.#end(watch, errorOfStatus(GRPC_CODE.Unknown, text));
  }

  #end(watch: Watch, error: EtcdClientError): void {
    if (!this.#watches.delete(watch.id)) return;
    watch.handlers.onEnd(error);
    if (this.#watches.size === 0) this.#stream?.call.cancel('no watch is left');
  }
}
