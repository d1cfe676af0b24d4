import { RPC } from './etcd-rpc.ts';
import type { RpcClient } from './grpc-client.ts';
import * as proto from '../../core/etcd/proto/index.ts';

/** Above a member's own limit for a request: what takes longer has no answer to come. */
const ANSWER_LIMIT_MS = 12_000;
const RECONNECT_MS = 20;

const within = <T>(promise: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error('no answer')), ANSWER_LIMIT_MS);
    promise.then(resolve, reject).finally(() => clearTimeout(limit));
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Connects to one member after the other: a client whose member fails continues with the next. */
export type Dial = (attempt: number) => RpcClient;

abstract class Worker {
  readonly #dial: Dial;
  #attempt: number;
  #stopped = false;
  #running: Promise<void> | undefined;

  constructor(dial: Dial, firstMember: number) {
    this.#dial = dial;
    this.#attempt = firstMember;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }

  protected get isStopped(): boolean {
    return this.#stopped;
  }

  /** Rejects when this connection is of no more use. */
  protected abstract work(client: RpcClient): Promise<void>;

  async #run(): Promise<void> {
    while (!this.#stopped) {
      const client = this.#dial((this.#attempt += 1));
      try {
        await within(client.ready());
        while (!this.#stopped) await this.work(client);
      } catch {
        await pause(RECONNECT_MS); // what was not acknowledged is accounted for by the worker
      } finally {
        client.close();
      }
    }
  }
}

/** Puts keys that no one else puts, each once. */
export class Writer extends Worker {
  readonly acknowledged = new Map<string, string>();
  readonly #prefix: string;
  #count = 0;

  constructor(options: { readonly dial: Dial; readonly number: number }) {
    super(options.dial, options.number);
    this.#prefix = `load/${options.number}/`;
  }

  protected async work(client: RpcClient): Promise<void> {
    this.#count += 1;
    const key = `${this.#prefix}${String(this.#count).padStart(8, '0')}`;
    const value = `value ${this.#count} of ${this.#prefix}`;
    await within(client.unary(RPC.put, { key: Buffer.from(key), value: Buffer.from(value) }));
    this.acknowledged.set(key, value);
  }
}

export const COUNTER_KEY = 'counter';

/** Adds one to the counter that all of its kind share, by compare and swap. */
export class Counter extends Worker {
  acknowledged = 0;
  /** Sent and not answered: each may have happened or not. */
  unknown = 0;

  constructor(options: { readonly dial: Dial; readonly number: number }) {
    super(options.dial, options.number);
  }

  protected async work(client: RpcClient): Promise<void> {
    const key = Buffer.from(COUNTER_KEY);
    const { kvs } = await within(client.unary(RPC.range, { key }));
    const [current] = kvs;
    const next = (current === undefined ? 0 : Number(Buffer.from(current.value).toString())) + 1;
    this.unknown += 1;
    const { succeeded } = await within(
      client.unary(RPC.txn, {
        compare: [
          {
            key,
            target: proto.COMPARE_TARGET.MOD,
            result: proto.COMPARE_RESULT.EQUAL,
            modRevision: current?.modRevision ?? 0,
          },
        ],
        success: [{ requestPut: { key, value: Buffer.from(String(next)) } }],
      }),
    );
    this.unknown -= 1;
    if (succeeded) this.acknowledged += 1;
  }
}

/** Follows every change of the load, over as many connections as it takes. */
export class Follower extends Worker {
  /** Revisions of single puts, in the order they came. */
  readonly revisions: number[] = [];
  readonly keys = new Set<string>();
  #next = 1;

  constructor(options: { readonly dial: Dial; readonly number: number }) {
    super(options.dial, options.number);
  }

  get nextRevision(): number {
    return this.#next;
  }

  protected async work(client: RpcClient): Promise<void> {
    const stream = client.stream(RPC.watch, ({ events }) => {
      for (const { kv } of events) {
        if (kv === undefined) continue;
        this.revisions.push(kv.modRevision);
        this.keys.add(Buffer.from(kv.key).toString());
        this.#next = kv.modRevision + 1;
      }
    });
    const all = Buffer.from([0]);
    stream.send({ createRequest: { key: all, rangeEnd: all, startRevision: this.#next } });
    const ended = stream.ended.then(() => true);
    while (!this.isStopped && !(await Promise.race([ended, pause(RECONNECT_MS).then(() => false)])));
    stream.close();
    await ended;
    if (!this.isStopped) throw new Error('the watch ended');
  }
}
