import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import type { Configuration, LogEntry } from '../../raft/types.ts';
import { Alarms, applierChain, backendQuota, type Applier, type Quota } from '../apply/index.ts';
import { AuthStore, SimpleTokens } from '../auth/index.ts';
import { Lessor, type LeaseCheckpoint, type LessorMetrics } from '../lease/index.ts';
import { Membership } from '../membership/index.ts';
import { META, type Backend, type Bucket, type Entry } from '../mvcc/backend/backend.ts';
import type { KeyString } from '../mvcc/model.ts';
import type { LeaseBook } from '../mvcc/leases.ts';
import { Store, type StoreOptions } from '../mvcc/store.ts';
import { WatchHub } from '../mvcc/watch/watch-hub.ts';
import { ETCD_STORAGE_VERSION } from '../version.ts';
import { encodeConfiguration } from './boot.ts';

const ROWS_PER_READ = 1000;
const FIRST = Buffer.alloc(0);
const NEXT = Buffer.from([0]);

/** All rows of a small bucket, read in pieces. */
function* rowsOf(backend: Backend, bucket: Bucket): Generator<Entry> {
  let from: Buffer = FIRST;
  for (;;) {
    const rows = backend.range(bucket, from, undefined, ROWS_PER_READ);
    yield* rows;
    const last = rows.at(-1);
    if (rows.length < ROWS_PER_READ || last === undefined) return;
    from = Buffer.concat([last.key, NEXT]);
  }
}

export interface StateMachineOptions {
  readonly backend: Backend;
  readonly clock: Clock;
  readonly log: Log;
  readonly quotaBytes: number;
  readonly minLeaseTtlSeconds: number;
  readonly learnersMax?: number;
  readonly compaction?: StoreOptions['compaction'];
  readonly compactionObserver?: StoreOptions['compactionObserver'];
  /** Of simple auth tokens. */
  readonly tokenTtlMs: number;
  readonly leaseMetrics?: LessorMetrics;
  readonly proposeCheckpoint?: (checkpoint: LeaseCheckpoint) => Promise<void>;
  readonly pause: () => Promise<void>;
}

/** Everything that the log decides, over one backend: keys, leases, members, alarms, users. */
export class StateMachine {
  readonly lessor: Lessor;
  readonly membership: Membership;
  readonly quota: Quota;
  store!: Store;
  watchHub!: WatchHub;
  alarms!: Alarms;
  auth!: AuthStore;
  readonly tokens: SimpleTokens;
  applier!: Applier;
  #backend: Backend;
  /** While the index is rebuilt keys say which lease they hang on; the lessor takes them all at the same time. */
  #attachments: { key: KeyString; lease: bigint }[] | undefined;

  private constructor(options: StateMachineOptions) {
    this.#backend = options.backend;
    this.lessor = new Lessor({
      clock: options.clock,
      minTtlSeconds: options.minLeaseTtlSeconds,
      rows: {
        put: (key, value) => this.#backend.put('lease', key as Buffer, value as Buffer),
        delete: (key) => this.#backend.delete('lease', key as Buffer),
      },
      ...(options.leaseMetrics && { metrics: options.leaseMetrics }),
      ...(options.proposeCheckpoint && { proposeCheckpoint: options.proposeCheckpoint }),
    });
    this.membership = new Membership({
      ...(options.learnersMax !== undefined && { learnersMax: options.learnersMax }),
      rows: {
        put: (bucket, key, value) => this.#backend.put(bucket, key as Buffer, value as Buffer),
        delete: (bucket, key) => this.#backend.delete(bucket, key as Buffer),
      },
    });
    this.tokens = new SimpleTokens({ clock: options.clock, ttlMs: options.tokenTtlMs });
    this.quota = backendQuota(options.quotaBytes, () => this.#backend.size());
  }

  static async open(options: StateMachineOptions): Promise<StateMachine> {
    const machine = new StateMachine(options);
    machine.#attachments = [];
    machine.store = await Store.open({
      backend: options.backend,
      clock: options.clock,
      log: options.log,
      leases: machine.#leaseBook(),
      pause: options.pause,
      ...(options.compaction && { compaction: options.compaction }),
      ...(options.compactionObserver && { compactionObserver: options.compactionObserver }),
    });
    machine.watchHub = new WatchHub(machine.store, options.clock);
    machine.alarms = new Alarms(options.backend);
    machine.auth = new AuthStore(options.backend, (user) => machine.tokens.invalidate(user));
    machine.applier = applierChain(machine, machine.quota);
    machine.#recover();
    return machine;
  }

  get backend(): Backend {
    return this.#backend;
  }

  get appliedIndex(): number {
    return this.#backend.consistentIndex;
  }

  /** Ends the application of one entry: what it wrote and its index become durable together. */
  finish(entry: LogEntry): void {
    assert(
      entry.index === this.#backend.consistentIndex + 1,
      `entry ${entry.index} is applied after entry ${this.#backend.consistentIndex}`,
    );
    this.#backend.setConsistentIndex(entry.index, entry.term);
  }

  saveConfiguration(configuration: Configuration): void {
    this.#backend.put('meta', META.confState, encodeConfiguration(configuration));
  }

  /** With the version that the cluster agreed on, as etcd does: `etcdutl snapshot status` prints it. */
  saveStorageVersion(): void {
    this.#backend.put('meta', META.storageVersion, Buffer.from(ETCD_STORAGE_VERSION));
  }

  /** Takes over the state in another backend; watchers are brought up to date from its history. */
  async replace(backend: Backend): Promise<void> {
    this.#attachments = [];
    await this.store.restore(backend);
    this.#backend = backend;
    this.alarms.restore(backend);
    this.auth.restore(backend);
    this.#recover();
    this.watchHub.restored();
  }

  close(): void {
    this.watchHub.dispose();
    this.store.close();
  }

  #recover(): void {
    const backend = this.#backend;
    this.lessor.recover({ rows: rowsOf(backend, 'lease'), attachments: this.#attachments ?? [] });
    this.#attachments = undefined;
    this.membership.recover({
      members: rowsOf(backend, 'members'),
      removed: rowsOf(backend, 'members_removed'),
      cluster: rowsOf(backend, 'cluster'),
    });
  }

  #leaseBook(): LeaseBook {
    const { lessor } = this;
    return {
      exists: (lease) => lessor.exists(lease),
      leaseOf: (key) => lessor.leaseOf(key),
      attach: (lease, key) => {
        if (this.#attachments !== undefined) this.#attachments.push({ key, lease });
        else lessor.attach(lease, key);
      },
      detach: (lease, key) => {
        if (this.#attachments === undefined) lessor.detach(lease, key);
      },
    };
  }
}
