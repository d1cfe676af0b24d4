import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { goQuote } from '../../api/field/go-text.ts';
import { StorageError } from './errors.ts';
import type {
  DeleteOptions,
  ListOptions,
  ListResult,
  Store,
  StoreEvent,
  StoreWatch,
  StoredValue,
  Transformed,
  UpdateOptions,
  WriteOptions,
} from './store.ts';
import type { PlainValue, ValueTransformer } from './value-transformer.ts';

/** Bytes decrypted in one turn of the event loop: a list of many values must not delay everybody else. */
const BYTES_PER_TURN = 512 * 1024;

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const unreadable = (key: string, cause: unknown): StorageError =>
  new StorageError('Internal', messageOf(cause), { cause, key });

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && Buffer.compare(a, b) === 0;

/** What an update wrote: the store answers with the encrypted value, its caller wants the plain one. */
interface Written {
  readonly encrypted: Uint8Array;
  readonly plain: Uint8Array;
}

/** A store whose values are transformed on their way to etcd and back. What the caller sees is always plain. */
export class TransformedStore implements Store {
  readonly #store: Store;
  readonly #transformer: ValueTransformer;

  constructor(store: Store, transformer: ValueTransformer) {
    this.#store = store;
    this.#transformer = transformer;
  }

  async get(key: string, options?: Parameters<Store['get']>[1]): Promise<StoredValue> {
    const stored = await this.#store.get(key, options);
    return { ...stored, value: (await this.#plain(stored)).value };
  }

  async list(prefix: string, options?: ListOptions): Promise<ListResult> {
    const page = await this.#store.list(prefix, options);
    const items: StoredValue[] = [];
    let bytes = 0;
    for (const stored of page.items) {
      let plain: PlainValue;
      try {
        const found = this.#transformer.fromStorage(stored.value, stored.key);
        plain = found instanceof Promise ? await found : found;
      } catch (cause) {
        const text = `unable to transform key ${goQuote(stored.key)}: ${messageOf(cause)}`;
        throw new StorageError('Internal', text, { cause, key: stored.key });
      }
      items.push(plain.value === stored.value ? stored : { ...stored, value: plain.value });
      if (plain.value === stored.value) continue;
      bytes += stored.value.length;
      if (bytes < BYTES_PER_TURN) continue;
      bytes = 0;
      await nextTurn();
    }
    return { ...page, items };
  }

  count(prefix: string): Promise<number> {
    return this.#store.count(prefix);
  }

  async create(key: string, value: Uint8Array, options?: WriteOptions): Promise<StoredValue> {
    const created = await this.#store.create(key, await this.#encrypted(key, value), options);
    return { ...created, value };
  }

  async guaranteedUpdate(key: string, options: UpdateOptions): Promise<StoredValue> {
    const { cached } = options;
    let written: Written | undefined;
    const transform = async (current: StoredValue | undefined): Promise<Transformed> => {
      // A cached object is plain already; whether it is stale is known when it was read again.
      const plain =
        current === undefined
          ? undefined
          : current === cached
            ? { value: current.value, isStale: false }
            : await this.#plain(current);
      const next = await options.transform(current && plain && { ...current, value: plain.value });
      const value = next === 'keep' ? plain?.value : next.value;
      const isUnchanged = plain !== undefined && value !== undefined && isSame(value, plain.value);
      if (value === undefined || (isUnchanged && !plain.isStale)) return 'keep';
      written = { encrypted: await this.#encrypted(key, value), plain: value };
      const lease = next === 'keep' ? { keepsLease: true } : { ttlSeconds: next.ttlSeconds };
      return { value: written.encrypted, ...lease };
    };
    const updated = await this.#store.guaranteedUpdate(key, { ...options, transform });
    if (written?.encrypted === updated.value) return { ...updated, value: written.plain };
    const plain = await this.#plain(updated);
    // The store kept it after one look at the cache: decide again with what is stored.
    if (plain.isStale) return this.guaranteedUpdate(key, { ...options, cached: undefined });
    return { ...updated, value: plain.value };
  }

  async delete(key: string, options: DeleteOptions = {}): Promise<StoredValue> {
    const { cached, check } = options;
    const plainOf = async (stored: StoredValue): Promise<StoredValue> =>
      stored.value === cached?.value ? stored : { ...stored, value: (await this.#plain(stored)).value };
    const deleted = await this.#store.delete(key, {
      ...options,
      ...(check && { check: async (current: StoredValue) => check(await plainOf(current)) }),
    });
    return plainOf(deleted);
  }

  watch(prefix: string, afterRevision: number, handlers: StoreWatch): Disposable {
    const delivery = new OrderedDelivery((error) => {
      watching.dispose();
      handlers.onEnd(error);
    });
    const watching = this.#store.watch(prefix, afterRevision, {
      onEvents: (events, revision) =>
        delivery.add(
          () => this.#plainEvents(events),
          (plain) => handlers.onEvents(plain, revision),
        ),
      onProgress: (revision) =>
        delivery.add(
          () => undefined,
          () => handlers.onProgress?.(revision),
        ),
      onEnd: (error) =>
        delivery.add(
          () => undefined,
          () => handlers.onEnd(error),
        ),
    });
    return {
      dispose() {
        delivery.stop();
        watching.dispose();
      },
    };
  }

  currentRevision(): Promise<number> {
    return this.#store.currentRevision();
  }

  requestProgress(): Promise<boolean> {
    return this.#store.requestProgress();
  }

  #plainEvents(events: readonly StoreEvent[]): readonly StoreEvent[] | Promise<readonly StoreEvent[]> {
    const plain = events.map((event) => this.#plainEvent(event));
    return plain.some((event) => event instanceof Promise) ? Promise.all(plain) : (plain as StoreEvent[]);
  }

  #plainEvent(event: StoreEvent): StoreEvent | Promise<StoreEvent> {
    const { key, value } = event;
    if (value === undefined) return event;
    const told = (plain: PlainValue): StoreEvent =>
      plain.value === value ? event : { ...event, value: plain.value };
    try {
      const plain = this.#transformer.fromStorage(value, key);
      return plain instanceof Promise
        ? plain.then(told, (cause: unknown) => Promise.reject(unreadable(key, cause)))
        : told(plain);
    } catch (cause) {
      throw unreadable(key, cause);
    }
  }

  async #plain({ key, value }: StoredValue): Promise<PlainValue> {
    try {
      return await this.#transformer.fromStorage(value, key);
    } catch (cause) {
      throw unreadable(key, cause);
    }
  }

  async #encrypted(key: string, value: Uint8Array): Promise<Uint8Array> {
    try {
      return await this.#transformer.toStorage(value, key);
    } catch (cause) {
      throw unreadable(key, cause);
    }
  }
}

/** Tells a watch in the order of etcd, also where the decryption of some values has to be waited for. */
class OrderedDelivery {
  readonly #onFailed: (error: StorageError) => void;
  #tail: Promise<void> | undefined;
  #isStopped = false;

  constructor(onFailed: (error: StorageError) => void) {
    this.#onFailed = onFailed;
  }

  add<T>(make: () => T | Promise<T>, tell: (made: T) => void): void {
    if (this.#isStopped) return;
    let made: T | Promise<T>;
    try {
      made = make();
    } catch (error) {
      made = Promise.reject(error as Error);
      if (this.#tail === undefined) {
        made.catch(() => undefined);
        return this.#fail(error);
      }
    }
    if (this.#tail === undefined && !(made instanceof Promise)) return tell(made);
    const before = this.#tail ?? Promise.resolve();
    const turn: Promise<void> = Promise.all([made, before]).then(
      ([value]) => {
        if (this.#tail === turn) this.#tail = undefined;
        if (!this.#isStopped) tell(value);
      },
      (error: unknown) => this.#fail(error),
    );
    this.#tail = turn;
  }

  stop(): void {
    this.#isStopped = true;
  }

  #fail(error: unknown): void {
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.#onFailed(error instanceof StorageError ? error : unreadable('', error));
  }
}
