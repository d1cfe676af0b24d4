import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { COMPARE_RESULT, COMPARE_TARGET, EVENT_TYPE } from '../../etcd/proto/index.ts';
import type { Event, KeyValue, RangeRequestIn, RangeResponse, TxnRequestIn } from '../../etcd/proto/index.ts';
import { BatchedReads } from './batched-reads.ts';
import { INCONSISTENT_REVISION, decodeContinue, encodeContinue } from './continue-token.ts';
import { StorageError, fromClient, tooLarge } from './errors.ts';
import {
  EtcdClientError,
  LeasePool,
  METHOD,
  progressIsTrusted,
  type EtcdClient,
} from './etcd-client/index.ts';
import type {
  DeleteOptions,
  ListOptions,
  ListResult,
  Store,
  StoreEvent,
  StoreWatch,
  StoredValue,
  UpdateOptions,
  WriteOptions,
} from './store.ts';

/** Attempts of one update or delete against others that keep changing the same object. */
const CONFLICT_ATTEMPTS_MAX = 1_000;
/** A key that need not exist: reading it says the revision and costs nothing. */
const REVISION_KEY = Buffer.from('compact_rev_key');

const EXPIRED_CONTINUE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list ' +
  'without the continue parameter, or use the continue token in this response to retrieve the remainder of the ' +
  'results. Continuing with the provided token results in an inconsistent list - objects that were created, ' +
  'modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The first key after all that begin with `prefix`; all keys when there is no such. */
export const prefixEnd = (prefix: Buffer): Buffer => {
  for (let index = prefix.length - 1; index >= 0; index -= 1)
    if (prefix[index]! < 0xff) {
      const end = Buffer.from(prefix.subarray(0, index + 1));
      end[index]! += 1;
      return end;
    }
  return Buffer.from([0]);
};

const textOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
const storedOf = (kv: KeyValue): StoredValue => ({
  key: textOf(kv.key),
  value: kv.value,
  revision: kv.modRevision,
});

const unchangedSince = (key: Buffer, revision: number): NonNullable<TxnRequestIn['compare']> => [
  { key, target: COMPARE_TARGET.MOD, result: COMPARE_RESULT.EQUAL, modRevision: revision },
];

const eventOf = (event: Event): StoreEvent => {
  const kv = event.kv!;
  const isDelete = event.type === EVENT_TYPE.DELETE;
  return {
    type: isDelete ? 'delete' : 'put',
    key: textOf(kv.key),
    revision: kv.modRevision,
    value: isDelete ? undefined : kv.value,
    isCreate: !isDelete && kv.createRevision === kv.modRevision,
  };
};

interface Attempt {
  readonly current: StoredValue | undefined;
  readonly isFresh: boolean;
}

/** The store on an etcd cluster. Keys are the caller's, whole: `/registry/pods/default/a`. */
export class EtcdStore implements Store {
  readonly #client: EtcdClient;
  readonly #leases: LeasePool;
  readonly #reads: BatchedReads;
  #progressTrusted: Promise<boolean> | undefined;
  #revisionRead: Promise<number> | undefined;
  #nextRevisionRead: Promise<number> | undefined;

  constructor(client: EtcdClient, options: { readonly clock: Clock }) {
    this.#client = client;
    this.#leases = new LeasePool(client, options.clock);
    this.#reads = new BatchedReads(client);
  }

  async get(key: string, options: { readonly notOlderThan?: number | undefined } = {}): Promise<StoredValue> {
    const answer = await this.#readKey(key);
    this.#mustReach(options.notOlderThan ?? 0, answer);
    const kv = answer.kvs[0];
    if (kv === undefined) throw new StorageError('NotFound', `key not found: ${key}`, { key });
    return storedOf(kv);
  }

  async list(prefix: string, options: ListOptions = {}): Promise<ListResult> {
    const { continueToken, at, limit = 0 } = options;
    const point = continueToken === undefined ? undefined : decodeContinue(continueToken, prefix);
    const exact = point?.revision ?? (at?.match === 'exact' ? at.revision : 0);
    const prefixBytes = Buffer.from(prefix);
    let answer: RangeResponse;
    try {
      answer = await this.#range(
        {
          key: point === undefined ? prefixBytes : Buffer.from(point.startKey),
          rangeEnd: prefixEnd(prefixBytes),
          limit,
          revision: exact === INCONSISTENT_REVISION ? 0 : exact,
        },
        options.signal,
      );
    } catch (error) {
      if (point === undefined || !(error instanceof StorageError) || error.reason !== 'Expired') throw error;
      const rest = { startKey: point.startKey, revision: INCONSISTENT_REVISION };
      throw new StorageError('Expired', EXPIRED_CONTINUE, {
        cause: error,
        continueToken: encodeContinue(rest, prefix),
      });
    }
    if (at?.match === 'notOlderThan') this.#mustReach(at.revision, answer);
    const revision = exact > 0 ? exact : (answer.header?.revision ?? 0);
    const items = answer.kvs.map(storedOf);
    const last = items.at(-1);
    if (!answer.more || last === undefined) return { items, revision };
    return {
      items,
      revision,
      continueToken: encodeContinue({ startKey: `${last.key}\0`, revision }, prefix),
      remainingItemCount: answer.count - items.length,
    };
  }

  async count(prefix: string): Promise<number> {
    const key = Buffer.from(prefix);
    return (await this.#range({ key, rangeEnd: prefixEnd(key), countOnly: true })).count;
  }

  async create(key: string, value: Uint8Array, options: WriteOptions = {}): Promise<StoredValue> {
    const keyBytes = Buffer.from(key);
    const lease = await this.#lease(options.ttlSeconds, key);
    const answer = await this.#txn(key, {
      compare: unchangedSince(keyBytes, 0),
      success: [{ requestPut: { key: keyBytes, value, lease } }],
    });
    if (!answer.succeeded) throw new StorageError('AlreadyExists', `key already exists: ${key}`, { key });
    return { key, value, revision: answer.header?.revision ?? 0 };
  }

  async guaranteedUpdate(key: string, options: UpdateOptions): Promise<StoredValue> {
    const keyBytes = Buffer.from(key);
    let { current, isFresh }: Attempt =
      options.cached === undefined ? await this.#read(key) : { current: options.cached, isFresh: false };
    for (let attempt = 1; attempt <= CONFLICT_ATTEMPTS_MAX; attempt += 1) {
      if (options.signal?.aborted === true)
        throw new StorageError('Timeout', `update of ${key} was given up`, { key });
      if (current === undefined && options.createIfMissing !== true)
        throw new StorageError('NotFound', `key not found: ${key}`, { key });
      let next;
      try {
        next = await options.transform(current);
      } catch (error) {
        if (isFresh) throw error;
        const read = await this.#read(key);
        // The decision was made on the current object, so it is final.
        if (read.current !== undefined && read.current.revision === current?.revision) throw error;
        ({ current, isFresh } = read);
        continue;
      }
      const same =
        next === 'keep' || (current !== undefined && Buffer.compare(next.value, current.value) === 0);
      if (same && current === undefined) throw new StorageError('NotFound', `key not found: ${key}`, { key });
      if (same && isFresh) return current!;
      if (same || next === 'keep') {
        const read = await this.#read(key);
        if (read.current !== undefined && read.current.revision === current?.revision) return read.current;
        ({ current, isFresh } = read);
        continue;
      }
      const { keepsLease: ignoreLease = false } = next;
      const lease = ignoreLease ? 0n : await this.#lease(next.ttlSeconds, key);
      const answer = await this.#txn(key, {
        compare: unchangedSince(keyBytes, current?.revision ?? 0),
        success: [{ requestPut: { key: keyBytes, value: next.value, lease, ignoreLease } }],
        failure: [{ requestRange: { key: keyBytes } }],
      });
      if (answer.succeeded) return { key, value: next.value, revision: answer.header?.revision ?? 0 };
      const kv = answer.responses[0]?.responseRange?.kvs[0];
      current = kv === undefined ? undefined : storedOf(kv);
      isFresh = true;
    }
    throw new StorageError('Conflict', `${key} changed ${CONFLICT_ATTEMPTS_MAX} times while it was updated`, {
      key,
    });
  }

  async delete(key: string, options: DeleteOptions = {}): Promise<StoredValue> {
    const keyBytes = Buffer.from(key);
    let { current, isFresh }: Attempt =
      options.cached === undefined ? await this.#read(key) : { current: options.cached, isFresh: false };
    for (let attempt = 1; attempt <= CONFLICT_ATTEMPTS_MAX; attempt += 1) {
      if (options.signal?.aborted === true)
        throw new StorageError('Timeout', `deletion of ${key} was given up`, { key });
      if (current === undefined) throw new StorageError('NotFound', `key not found: ${key}`, { key });
      try {
        await options.check?.(current);
      } catch (error) {
        if (isFresh) throw error;
        const read = await this.#read(key);
        if (read.current?.revision === current.revision) throw error;
        ({ current, isFresh } = read);
        continue;
      }
      const answer = await this.#txn(key, {
        compare: unchangedSince(keyBytes, current.revision),
        success: [{ requestDeleteRange: { key: keyBytes } }],
        failure: [{ requestRange: { key: keyBytes } }],
      });
      if (answer.succeeded) return { key, value: current.value, revision: answer.header?.revision ?? 0 };
      const kv = answer.responses[0]?.responseRange?.kvs[0];
      current = kv === undefined ? undefined : storedOf(kv);
      isFresh = true;
    }
    throw new StorageError('Conflict', `${key} changed ${CONFLICT_ATTEMPTS_MAX} times while it was deleted`, {
      key,
    });
  }

  watch(prefix: string, afterRevision: number, handlers: StoreWatch): Disposable {
    const key = Buffer.from(prefix);
    const startRevision = afterRevision === 0 ? 0 : afterRevision + 1;
    return this.#client.watch(
      // The watch cache knows what was there before.
      { key, rangeEnd: prefixEnd(key), startRevision, prevKv: false },
      {
        onEvents: (events, revision) => handlers.onEvents(events.map(eventOf), revision),
        onProgress: (revision) => handlers.onProgress?.(revision),
        onEnd: (error) => handlers.onEnd(fromClient(error, false) as StorageError),
      },
    );
  }

  /** A read already in flight may lag behind a revision this caller has seen, so concurrent callers share the next one. */
  currentRevision(): Promise<number> {
    if (this.#revisionRead === undefined) return this.#readRevision();
    this.#nextRevisionRead ??= this.#revisionRead.then(
      () => this.#readNextRevision(),
      () => this.#readNextRevision(),
    );
    return this.#nextRevisionRead;
  }

  async requestProgress(): Promise<boolean> {
    this.#progressTrusted ??= this.#askVersion();
    if (!(await this.#progressTrusted)) return false;
    this.#client.requestProgress();
    return true;
  }

  async #askVersion(): Promise<boolean> {
    try {
      const { version } = await this.#client.call(METHOD.status, {});
      return progressIsTrusted(version);
    } catch (error) {
      this.#progressTrusted = undefined;
      if (error instanceof EtcdClientError) return false;
      throw error;
    }
  }

  #readNextRevision(): Promise<number> {
    this.#nextRevisionRead = undefined;
    return this.#readRevision();
  }

  #readRevision(): Promise<number> {
    const read = this.#range({ key: REVISION_KEY, countOnly: true })
      .then((answer) => answer.header?.revision ?? 0)
      .finally(() => {
        if (this.#revisionRead === read) this.#revisionRead = undefined;
      });
    this.#revisionRead = read;
    return read;
  }

  async #read(key: string): Promise<Attempt> {
    const { kvs } = await this.#readKey(key);
    return { current: kvs[0] === undefined ? undefined : storedOf(kvs[0]), isFresh: true };
  }

  async #lease(ttlSeconds: number | undefined, key: string): Promise<bigint> {
    if (ttlSeconds === undefined || ttlSeconds <= 0) return 0n;
    try {
      return await this.#leases.lease(ttlSeconds);
    } catch (error) {
      // No lease means nothing was written yet.
      throw fromClient(error, false, key);
    }
  }

  async #readKey(key: string): Promise<RangeResponse> {
    try {
      return await this.#reads.read(Buffer.from(key));
    } catch (error) {
      throw fromClient(error, false, key);
    }
  }

  async #range(request: RangeRequestIn, signal?: AbortSignal): Promise<RangeResponse> {
    try {
      return await this.#client.call(METHOD.range, request, { signal });
    } catch (error) {
      throw fromClient(error, false);
    }
  }

  async #txn(key: string, request: TxnRequestIn) {
    try {
      return await this.#client.call(METHOD.txn, request);
    } catch (error) {
      throw fromClient(error, true, key);
    }
  }

  #mustReach(notOlderThan: number, answer: RangeResponse): void {
    const current = answer.header?.revision ?? 0;
    if (notOlderThan > current) throw tooLarge(notOlderThan, current);
  }
}
