/** Forms one object is asked for: JSON and protobuf, a few API versions. More are made each time. */
const FORMATS_MAX = 16;

class Encodings {
  #made: Map<string, Uint8Array> | undefined;

  get(format: string, make: () => Uint8Array): Uint8Array {
    const known = this.#made?.get(format);
    if (known !== undefined) return known;
    const bytes = make();
    this.#made ??= new Map();
    if (this.#made.size < FORMATS_MAX) this.#made.set(format, bytes);
    return bytes;
  }
}

/** The object with `revision` as its resourceVersion. */
export type Decode<T> = (key: string, value: Uint8Array, revision: number) => T;

/** One version of one object, shared by every list and watch that shows it. Never changed. */
export class CachedObject<T> {
  readonly key: string;
  /** As stored. A copy of its own: it pins no larger buffer. */
  readonly value: Uint8Array;
  readonly revision: number;
  #object: T | undefined;
  readonly #decode: Decode<T> | undefined;
  #encodings: Encodings | undefined;

  /** With `decode` it can be put aside. */
  constructor(key: string, value: Uint8Array, revision: number, object: T, decode?: Decode<T>) {
    this.key = key;
    this.value = value;
    this.revision = revision;
    this.#object = object;
    this.#decode = decode;
  }

  /** Decoded on every access once the object was evicted. */
  get object(): T {
    return this.#object ?? this.#decode!(this.key, this.value, this.revision);
  }

  /** Keeps the stored form alone, a fifth of the whole: few will ask for it again. */
  putAside(): void {
    if (this.#decode === undefined) return;
    this.#object = undefined;
    this.#encodings = undefined;
  }

  /** The object in a form of the caller's naming, made for the first who asks. */
  encoded(format: string, make: (object: T) => Uint8Array): Uint8Array {
    return (this.#encodings ??= new Encodings()).get(format, () => make(this.object));
  }
}

/** What happened to an object. The same instance goes to every watcher. */
export class CacheEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly revision: number;
  /** The object after the event; on DELETED its last state with the revision of the deletion. */
  readonly current: CachedObject<T>;
  /** The object before: with it a selector tells what entered or left its view. */
  readonly previous: CachedObject<T> | undefined;
  #encodings: Encodings | undefined;

  constructor(
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    current: CachedObject<T>,
    previous: CachedObject<T> | undefined,
  ) {
    this.type = type;
    this.revision = current.revision;
    this.current = current;
    this.previous = previous;
  }

  get key(): string {
    return this.current.key;
  }

  /** Everybody was told: what is no longer the newest of its object is put aside. */
  putAside(): void {
    this.#encodings = undefined;
    this.previous?.putAside();
    if (this.type === 'DELETED') this.current.putAside();
  }

  /** The event's line in a form of the caller's naming, made for the first who asks. */
  encoded(format: string, make: (event: CacheEvent<T>) => Uint8Array): Uint8Array {
    return (this.#encodings ??= new Encodings()).get(format, () => make(this));
  }
}

/** Nothing up to `revision` is missing. `initialEventsEnd`: the state asked for at the start is complete. */
export interface CacheBookmark {
  readonly type: 'BOOKMARK';
  readonly revision: number;
  readonly initialEventsEnd: boolean;
}

export type WatchItem<T> = CacheEvent<T> | CacheBookmark;
