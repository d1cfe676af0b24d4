import { unreachable } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { silentLog, type Log } from '../../base/log.ts';
import { META, type Backend } from './backend/backend.ts';
import {
  COMPACTION_PACE,
  Compactions,
  unobservedCompactions,
  type CompactionObserver,
  type CompactionPace,
} from './compaction.ts';
import { compacted, futureRevision } from './errors.ts';
import { HASH_CHUNK, hashBuckets, KeyValueHasher, revisionName, type KeyValueHash } from './hash.ts';
import { KeyIndex } from './key-index.ts';
import type { KeyValue } from './key-value.ts';
import { EMPTY, encodeKeyValue, NO_LEASE } from './key-value.ts';
import { noLeases, type LeaseBook } from './leases.ts';
import {
  Event,
  keyBytes,
  keyString,
  toSpan,
  type DeleteRangeRequest,
  type DeleteRangeResult,
  type KeyString,
  type PutRequest,
  type PutResult,
  type RangeRequest,
  type RangeResult,
  type TxnOpResult,
  type TxnRequest,
  type TxnResult,
} from './model.ts';
import { readAll, readRange, readRevision, type ReadView } from './range.ts';
import { restoreIndex } from './restore.ts';
import { encodeRevision } from './revision.ts';
import { checkOps, checkPut, decidePath } from './txn.ts';

export interface StoreOptions {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly leases?: LeaseBook;
  readonly log?: Log;
  /** Gives the event loop a turn between chunks of long work. */
  readonly pause?: () => Promise<void>;
  /** `--compaction-batch-limit` and `--compaction-sleep-interval` */
  readonly compaction?: CompactionPace;
  readonly compactionObserver?: CompactionObserver;
}

/** Called right after a change is visible to reads, in revision order; all events have that revision. */
export type ChangeListener = (revision: number, events: readonly Event[]) => void;

const eventLoopTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * Keys with their history, with etcd's semantics. Every call that changes something is one step of the state
 * machine: synchronous, the same on every member, and refused as a whole or done as a whole. Durability is
 * the backend's.
 */
export class Store implements ReadView {
  readonly #options: Required<StoreOptions>;
  readonly #listeners = new Set<ChangeListener>();
  #index: KeyIndex;
  #backend: Backend;
  #compactions: Compactions;
  #revision = 1;
  #compactRevision = -1;
  /** Changes of the step in progress, whose sub revisions are their positions. */
  #changes: Event[] = [];

  private constructor(options: Required<StoreOptions>) {
    this.#options = options;
    this.#backend = options.backend;
    this.#index = new KeyIndex();
    this.#compactions = this.#newCompactions();
  }

  /** Rebuilds the index from the backend and continues with a compaction that was interrupted. */
  static async open(options: StoreOptions): Promise<Store> {
    const store = new Store({
      leases: noLeases,
      log: silentLog,
      pause: eventLoopTurn,
      compaction: COMPACTION_PACE,
      compactionObserver: unobservedCompactions,
      ...options,
    });
    await store.#load(options.backend);
    return store;
  }

  get index(): KeyIndex {
    return this.#index;
  }
  get backend(): Backend {
    return this.#backend;
  }
  /** The newest revision; 1 for a store in which nothing ever changed. */
  get revision(): number {
    return this.#revision;
  }
  /** Older revisions cannot be read; -1 before the first compaction. */
  get compactRevision(): number {
    return this.#compactRevision;
  }

  /** How often it was asked, for metrics. */
  readonly counts = { ranges: 0, txns: 0 };

  range(request: RangeRequest): RangeResult {
    this.counts.ranges += 1;
    return readRange(this, request);
  }

  /** The version of a key before a change: what `prev_kv` of an event is. */
  previous(event: Event): KeyValue | undefined {
    const at = event.modRevision - 1;
    if (at < this.#compactRevision) return undefined;
    const revision = this.#index.get(event.key)?.at(at);
    return revision === undefined ? undefined : readRevision(this.#backend, revision);
  }

  put(request: PutRequest): PutResult {
    checkPut(this, this.#options.leases, request);
    const result = this.#put(request);
    this.#finish();
    return result;
  }

  deleteRange(request: DeleteRangeRequest): DeleteRangeResult {
    const result = this.#deleteRange(request);
    this.#finish();
    return result;
  }

  txn(request: TxnRequest): TxnResult {
    this.counts.txns += 1;
    const path = decidePath(this, request);
    checkOps(this, this.#options.leases, request, path);
    const result = this.#txn(request, path.values());
    this.#finish();
    return { ...result, revision: this.#revision };
  }

  /** Deletes keys together, at one revision: what the end of a lease does. */
  deleteKeys(keys: Iterable<KeyString>): number {
    for (const key of keys) if (this.#index.get(key)?.live) this.#delete(key);
    this.#finish();
    return this.#revision;
  }

  /**
   * History below `revision` is out of reach immediately; `done` resolves when it is gone from the backend too.
   * Throws Compacted or FutureRevision.
   */
  compact(revision: number): { readonly done: Promise<void> } {
    if (revision <= this.#compactRevision) throw compacted();
    if (revision > this.#revision) throw futureRevision();
    const previous = this.#compactRevision;
    this.#compactRevision = revision;
    this.#backend.put('meta', META.scheduledCompact, encodeRevision(revision, 0));
    return { done: this.#compactions.run(revision, previous) };
  }

  /** The hash of the keys up to a revision (0: the newest), for comparing members. */
  async hashKv(revision: number): Promise<KeyValueHash & { readonly currentRevision: number }> {
    const remembered = revision > 0 ? this.#compactions.hashAt(revision) : undefined;
    if (remembered !== undefined) return { ...remembered, currentRevision: this.#revision };
    if (revision > 0 && revision < this.#compactRevision) throw compacted();
    if (revision > this.#revision) throw futureRevision();
    const currentRevision = this.#revision;
    const at = revision === 0 ? currentRevision : revision;
    const compactRevision = this.#compactRevision;
    const kept = this.#keptAt(at, compactRevision);
    const hasher = new KeyValueHasher({
      compactRevision,
      revision: at,
      isKept: (name) => kept === undefined || kept.has(revisionName(name)),
    });
    const snapshot = await this.#backend.snapshot();
    try {
      let sinceLastPause = 0;
      for (const { key, value } of snapshot.entries('key')) {
        hasher.write(key, value);
        sinceLastPause += 1;
        if (sinceLastPause % HASH_CHUNK === 0) await this.#options.pause();
      }
    } finally {
      snapshot.dispose();
    }
    return { ...hasher.result(), currentRevision };
  }

  /** The hash of the whole backend. */
  async hash(): Promise<{ readonly hash: number; readonly revision: number }> {
    const revision = this.#revision;
    const snapshot = await this.#backend.snapshot();
    try {
      return { hash: await hashBuckets(snapshot, this.#options.pause), revision };
    } finally {
      snapshot.dispose();
    }
  }

  onChange(listener: ChangeListener): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  /**
   * Takes over another backend (a snapshot from the leader). Reads see the old state until all of the new one
   * is there; nothing may be applied meanwhile. The caller closes the old backend afterwards.
   */
  async restore(backend: Backend): Promise<void> {
    this.#compactions.stop();
    await this.#load(backend);
  }

  /** Stops background work; a compaction in progress continues after the next start. The backend stays open. */
  close(): void {
    this.#compactions.stop();
  }

  #newCompactions(): Compactions {
    return new Compactions({
      view: this,
      clock: this.#options.clock,
      log: this.#options.log,
      pace: this.#options.compaction,
      observer: this.#options.compactionObserver,
    });
  }

  async #load(backend: Backend): Promise<void> {
    const index = new KeyIndex();
    const restored = await restoreIndex(backend, index, this.#options.leases, this.#options.pause);
    this.#backend = backend;
    this.#index = index;
    this.#compactions = this.#newCompactions();
    this.#revision = restored.revision;
    this.#compactRevision = restored.compactRevision;
    if (restored.scheduledCompact <= restored.compactRevision) return;
    this.#options.log.write('info', 'resume scheduled compaction', {
      'scheduled-compact-revision': restored.scheduledCompact,
    });
    this.#compactions.interrupted();
    void this.compact(restored.scheduledCompact).done;
  }

  /** What outlives a compaction at `at` among revisions up to `compactRevision`; undefined: nothing is left out. */
  #keptAt(at: number, compactRevision: number): Set<number | string> | undefined {
    if (compactRevision < 0) return undefined;
    const kept = new Set<number | string>();
    let isAnyKept = false;
    this.#index.walk({ start: '', end: '' }, (revisions) => {
      const revision = revisions.at(at);
      if (revision !== undefined) {
        isAnyKept = true;
        if (revision.main <= compactRevision) kept.add(revisionName(revision));
      }
      return true;
    });
    return isAnyKept ? kept : undefined;
  }

  get #stepRevision(): number {
    return this.#changes.length > 0 ? this.#revision + 1 : this.#revision;
  }

  /** What a read inside the step in progress sees: its own changes too. */
  #stepView(): ReadView {
    if (this.#changes.length === 0) return this;
    return {
      index: this.#index,
      backend: this.#backend,
      revision: this.#revision + 1,
      compactRevision: this.#compactRevision,
    };
  }

  #put(request: PutRequest): PutResult {
    const main = this.#revision + 1;
    const sub = this.#changes.length;
    const key = keyString(request.key);
    const before = this.#index.get(key);
    const isLive = before?.live === true;
    let prevKv: KeyValue | undefined;
    if (isLive && (request.prevKv || request.ignoreValue || request.ignoreLease))
      prevKv = readRevision(this.#backend, { main: before.newest, sub: before.lastSub });
    const value = request.ignoreValue ? (prevKv?.value ?? EMPTY) : request.value;
    const lease = request.ignoreLease ? (prevKv?.lease ?? NO_LEASE) : (request.lease ?? NO_LEASE);
    const stored = encodeKeyValue(
      request.key,
      isLive ? before.created : main,
      main,
      isLive ? before.version + 1 : 1,
      value,
      lease,
    );
    this.#backend.put('key', encodeRevision(main, sub), stored);
    this.#index.put(key, main, sub, before);
    this.#changes.push(new Event('put', key, main, stored));
    this.#moveLease(key, isLive ? this.#options.leases.leaseOf(key) : NO_LEASE, lease);
    return { revision: main, prevKv: request.prevKv ? prevKv : undefined };
  }

  #deleteRange(request: DeleteRangeRequest): DeleteRangeResult {
    const prevKvs = request.prevKv ? readAll(this.#stepView(), request) : [];
    const keys: KeyString[] = [];
    this.#index.walk(toSpan(request), (revisions) => {
      if (revisions.live) keys.push(revisions.key);
      return true;
    });
    for (const key of keys) this.#delete(key);
    return { revision: this.#stepRevision, deleted: keys.length, prevKvs };
  }

  #delete(key: KeyString): void {
    const main = this.#revision + 1;
    const sub = this.#changes.length;
    const stored = encodeKeyValue(keyBytes(key), 0, 0, 0, EMPTY, NO_LEASE);
    this.#backend.put('key', encodeRevision(main, sub, true), stored);
    this.#index.tombstone(key, main, sub);
    this.#changes.push(new Event('delete', key, main, stored));
    this.#moveLease(key, this.#options.leases.leaseOf(key), NO_LEASE);
  }

  #moveLease(key: KeyString, from: bigint, to: bigint): void {
    if (from === to) return;
    if (from !== NO_LEASE) this.#options.leases.detach(from, key);
    if (to !== NO_LEASE) this.#options.leases.attach(to, key);
  }

  #txn(request: TxnRequest, path: Iterator<boolean>): TxnResult {
    const succeeded = path.next().value === true;
    const responses = (succeeded ? request.success : request.failure).map((op): TxnOpResult => {
      switch (op.type) {
        case 'range':
          return { type: op.type, result: readRange(this.#stepView(), op.request) };
        case 'put':
          return { type: op.type, result: this.#put(op.request) };
        case 'delete-range':
          return { type: op.type, result: this.#deleteRange(op.request) };
        case 'txn':
          return { type: op.type, result: this.#txn(op.request, path) };
        default:
          return unreachable(op, 'operation of a transaction');
      }
    });
    return { revision: this.#stepRevision, succeeded, responses };
  }

  /** Ends a step: its changes become one revision, or there was none. */
  #finish(): void {
    if (this.#changes.length === 0) return;
    const events = this.#changes;
    this.#changes = [];
    this.#revision += 1;
    for (const listener of this.#listeners) listener(this.#revision, events);
  }
}
