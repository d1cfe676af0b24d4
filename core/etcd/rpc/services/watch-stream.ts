import type { Clock } from '../../../base/clock.ts';
import type { Disposable } from '../../../base/disposable.ts';
import { messageOf, ReasonError } from '../../../base/errors.ts';
import type { Random } from '../../../base/random.ts';
import { FILTER_TYPE } from '../../proto/index.ts';
import type { WatchCreateRequest, WatchRequest, WatchResponseIn } from '../../proto/index.ts';
import { statusOf, statusOfReason } from '../../refusals/errors.ts';
import type { DuplexStream } from '../grpc/method.ts';
import type { MemberApi, WatchBatch, Watcher } from '../member-api.ts';
import { headerAt } from './header.ts';
import { encodeWatchResponse, encodedEvent, fragmentEvents } from './watch-encoding.ts';

export interface WatchOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** `--experimental-watch-progress-notify-interval`, 10 minutes in etcd. */
  readonly progressIntervalMs: number;
  /** Where a watcher that allows fragments is cut: the request limit with gRPC's overhead. */
  readonly responseBytesMax: number;
}

/** With this much unread, a stream takes no more batches; the source keeps them. */
const UNREAD_BYTES_MAX = 1024 * 1024;
/** What announces a refusal, or progress on behalf of all watchers of a stream. */
const NO_WATCH = -1n;
const AUTO_ID = 0n;
/** Keys start after the empty one, so this is where "everything" begins. */
const FIRST_KEY = new Uint8Array([0]);
/** Part of the interval added at random, so that streams opened together do not report together. */
const PROGRESS_JITTER = 0.1;

interface Watch {
  readonly id: bigint;
  watcher: Watcher | undefined;
  readonly prevKv: boolean;
  readonly fragment: boolean;
  readonly progressNotify: boolean;
  /** An event since the last tick is news enough. */
  quietSinceTick: boolean;
}

/** All watches of one client stream: what it asks for, and what it is sent. */
export class WatchStream {
  readonly #member: MemberApi;
  readonly #stream: DuplexStream<WatchRequest, WatchResponseIn>;
  readonly #options: WatchOptions;
  readonly #watches = new Map<bigint, Watch>();
  #nextId = AUTO_ID;
  #ticker: Disposable | undefined;
  #waitsForRoom = false;

  constructor(member: MemberApi, stream: DuplexStream<WatchRequest, WatchResponseIn>, options: WatchOptions) {
    this.#member = member;
    this.#stream = stream;
    this.#options = options;
  }

  /** Until the client is gone. A client that has said its last word still receives. */
  async run(): Promise<void> {
    try {
      this.#planTick();
      // Requests are answered, so they wait while answers are not read.
      while (await this.#stream.drained()) {
        const request = await this.#stream.receive();
        if (request === undefined) break;
        await this.#onRequest(request);
      }
      await untilOver(this.#stream);
    } finally {
      this.#ticker?.dispose();
      for (const { watcher } of this.#watches.values()) watcher?.cancel();
      this.#watches.clear();
    }
  }

  #onRequest(request: WatchRequest): Promise<void> | void {
    if (request.createRequest !== undefined) return this.#createIfPermitted(request.createRequest);
    else if (request.cancelRequest !== undefined) this.#cancel(request.cancelRequest.watchId);
    else if (request.progressRequest !== undefined) this.#reportAll();
    // An empty request is from a newer client; ignoring it keeps its other watches alive.
  }

  /** In the same turn while auth is off. */
  #createIfPermitted(request: WatchCreateRequest): Promise<void> | void {
    const key = request.key.length === 0 ? FIRST_KEY : request.key;
    const permitted = this.#member.permitRead(this.#stream, { key, rangeEnd: request.rangeEnd });
    if (permitted === undefined) return this.#create(request);
    return permitted.then(
      () => this.#create(request),
      (error: unknown) => this.#refuse(refusalOf(error)),
    );
  }

  #create(request: WatchCreateRequest): void {
    if (request.startRevision < 0) return this.#refuse(statusOfReason('Compacted').text);
    const id = request.watchId === AUTO_ID ? this.#freeId() : request.watchId;
    if (this.#watches.has(id)) return this.#refuse('mvcc: duplicate watch ID provided on the WatchStream');
    const watch: Watch = {
      id,
      watcher: undefined,
      prevKv: request.prevKv,
      fragment: request.fragment,
      progressNotify: request.progressNotify,
      quietSinceTick: true,
    };
    try {
      watch.watcher = this.#member.watches.watch({
        // Views of the network buffer must not outlive the request.
        key: request.key.length === 0 ? FIRST_KEY : Uint8Array.from(request.key),
        rangeEnd: Uint8Array.from(request.rangeEnd),
        startRevision: request.startRevision,
        filters: request.filters.flatMap((filter) =>
          filter === FILTER_TYPE.NOPUT ? 'noput' : filter === FILTER_TYPE.NODELETE ? 'nodelete' : [],
        ),
        prevKv: request.prevKv,
        sink: { deliver: (batch) => this.#deliver(watch, batch) },
      });
    } catch (error) {
      return this.#refuse(messageOf(error));
    }
    this.#watches.set(id, watch);
    this.#send({ watchId: id, created: true });
  }

  #freeId(): bigint {
    while (this.#watches.has(this.#nextId)) this.#nextId += 1n;
    const id = this.#nextId;
    this.#nextId += 1n;
    return id;
  }

  #refuse(cancelReason: string): void {
    this.#send({ watchId: NO_WATCH, created: true, canceled: true, cancelReason });
  }

  #cancel(id: bigint): void {
    const watch = this.#watches.get(id);
    if (watch === undefined) return;
    this.#watches.delete(id);
    watch.watcher?.cancel();
    this.#send({ watchId: id, canceled: true });
  }

  #deliver(watch: Watch, batch: WatchBatch): boolean {
    if (this.#stream.over) return true;
    if (this.#stream.queuedBytes > UNREAD_BYTES_MAX) {
      this.#resumeWhenRead();
      return false;
    }
    if (batch.compactRevision !== 0) {
      this.#watches.delete(watch.id);
      const { compactRevision } = batch;
      // etcd knows no revision to report here and sends none.
      this.#send({ watchId: watch.id, canceled: true, compactRevision }, 0);
      return true;
    }
    const events = batch.events.map((event) => encodedEvent(event, watch.prevKv));
    this.#sendEvents(watch, batch.revision, events);
    watch.quietSinceTick = false;
    return true;
  }

  #sendEvents(watch: Watch, revision: number, events: readonly Buffer[]): void {
    const head = { header: headerAt(this.#member, revision), watchId: watch.id };
    const whole = encodeWatchResponse(head, events);
    const { responseBytesMax } = this.#options;
    if (!watch.fragment || whole.length < responseBytesMax || events.length < 2) {
      this.#stream.sendEncoded(whole);
      return;
    }
    const headBytes = encodeWatchResponse({ ...head, fragment: true }, []).length;
    const pieces = fragmentEvents(events, { headBytes, responseBytesMax });
    pieces.forEach((piece, index) => {
      const fragment = index < pieces.length - 1;
      this.#stream.sendEncoded(encodeWatchResponse({ ...head, fragment }, piece));
    });
  }

  #resumeWhenRead(): void {
    if (this.#waitsForRoom) return;
    this.#waitsForRoom = true;
    void this.#stream.drained().then((open) => {
      this.#waitsForRoom = false;
      if (open) this.#member.watches.resume();
    });
  }

  /** On request: one answer for all watches, and none while one of them is behind. */
  #reportAll(): void {
    if (this.#watches.size === 0) return;
    const revision = this.#progressOf(this.#watches.values());
    if (revision !== undefined) this.#send({ watchId: NO_WATCH }, revision);
  }

  #progressOf(watches: Iterable<Watch>): number | undefined {
    const watchers: Watcher[] = [];
    for (const { watcher } of watches) if (watcher !== undefined) watchers.push(watcher);
    return this.#member.watches.progress(watchers);
  }

  #planTick(): void {
    const { progressIntervalMs, clock, random } = this.#options;
    this.#ticker = clock.after(progressIntervalMs * (1 + PROGRESS_JITTER * random.next()), () => {
      for (const watch of this.#watches.values()) {
        if (!watch.progressNotify) continue;
        const revision = watch.quietSinceTick ? this.#progressOf([watch]) : undefined;
        if (revision !== undefined) this.#send({ watchId: watch.id }, revision);
        watch.quietSinceTick = true;
      }
      this.#planTick();
    });
  }

  #send(response: WatchResponseIn, revision: number = this.#member.revision()): void {
    const header = headerAt(this.#member, revision);
    this.#stream.sendEncoded(encodeWatchResponse({ ...response, header }, []));
  }
}

/** As etcd words it: with the code of the error that a call would have ended with. */
const refusalOf = (error: unknown): string => {
  const reason = error instanceof ReasonError ? error.reason : '';
  const { code, text } = TOLD_REASONS.has(reason) ? statusOf(error) : statusOfReason('PermissionDenied');
  return `rpc error: code = ${code} desc = ${text}`;
};
const TOLD_REASONS: ReadonlySet<string> = new Set(['InvalidAuthToken', 'AuthOldRevision', 'UserEmpty']);

const untilOver = ({
  over,
  signal,
}: {
  readonly over: boolean;
  readonly signal: AbortSignal;
}): Promise<void> =>
  new Promise((resolve) => {
    if (over) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
