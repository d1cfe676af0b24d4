import * as proto from '../../proto/index.ts';
import type { MemberApi, RequestContext } from '../member-api.ts';

/** As etcd's concurrency library: a client that names no lease gets one of a minute. */
const SESSION_TTL_SECONDS = 60;
const SLASH = Buffer.from('/');
const NO_BYTES = new Uint8Array(0);

/** One who stands in line: its key, and the revision at which it took its place. */
export interface Place {
  readonly key: Buffer;
  readonly lease: bigint;
  readonly revision: number;
  /** The key was there before: this client has taken its place earlier. */
  readonly isOld: boolean;
  readonly value: Uint8Array;
}

const range = (request: proto.RangeRequestIn): proto.RangeRequest =>
  proto.RangeRequest.decode(proto.RangeRequest.encode(request));

/** The end of all keys that begin with `prefix`, which ends in a slash. */
const prefixEnd = (prefix: Buffer): Buffer => {
  const end = Buffer.from(prefix);
  end[end.length - 1]! += 1;
  return end;
};

/** Encoded or not, as the member gives it. */
const keyValueOf = (kv: proto.KeyValueIn | Uint8Array): proto.KeyValue =>
  kv instanceof Uint8Array ? proto.KeyValue.decode(kv) : proto.KeyValue.decode(proto.KeyValue.encode(kv));

/**
 * Clients in line behind a name, in etcd's layout: `<name>/<lease in hex>`, each with its lease, first come first. The
 * key with the lowest create revision is the holder; it is gone when it is deleted or its lease ends.
 */
export class WaitingLine {
  readonly #member: MemberApi;
  readonly #context: RequestContext;
  readonly #prefix: Buffer;

  constructor(member: MemberApi, context: RequestContext, name: Uint8Array) {
    this.#member = member;
    this.#context = context;
    this.#prefix = Buffer.concat([name, SLASH]);
  }

  async takePlace(lease: bigint, value: Uint8Array): Promise<Place> {
    const held = lease === 0n ? await this.#newLease() : lease;
    const key = Buffer.concat([this.#prefix, Buffer.from(held.toString(16))]);
    const request = proto.TxnRequest.decode(
      proto.TxnRequest.encode({
        compare: [
          { key, target: proto.COMPARE_TARGET.CREATE, result: proto.COMPARE_RESULT.EQUAL, createRevision: 0 },
        ],
        success: [{ requestPut: { key, value, lease: held } }],
        failure: [{ requestRange: { key } }],
      }),
    );
    const answer = await this.#member.txn(request, this.#context);
    if (answer.succeeded === true)
      return { key, lease: held, revision: answer.header?.revision ?? 0, isOld: false, value };
    const response = proto.TxnResponse.decode(proto.TxnResponse.encode(answer)).responses[0]?.responseRange;
    const kv = response?.kvs[0];
    if (kv === undefined) throw new Error('mutex: session is expired');
    return { key, lease: held, revision: kv.createRevision, isOld: true, value: kv.value };
  }

  /** Resolves when no one is in line before the place. Gives the place up when the call ends first. */
  async wait(place: Place): Promise<void> {
    try {
      for (;;) {
        const before = await this.#lastBefore(place.revision);
        if (before === undefined) break;
        await this.#untilDeleted(before.key, before.atRevision);
      }
    } catch (error) {
      await this.leave(place.key).catch(() => undefined);
      throw error;
    }
    const { kvs = [] } = await this.#member.range(range({ key: place.key }), this.#context);
    if (kvs.length === 0) throw new Error('mutex: session is expired');
  }

  leave(key: Uint8Array): Promise<object> {
    const request = proto.DeleteRangeRequest.decode(proto.DeleteRangeRequest.encode({ key }));
    return this.#member.deleteRange(request, this.#context);
  }

  /** The one that holds it now, and the revision at which that was read. */
  async holder(): Promise<{ readonly kv: proto.KeyValue | undefined; readonly revision: number }> {
    const { kvs = [], header } = await this.#member.range(
      range({
        key: this.#prefix,
        rangeEnd: prefixEnd(this.#prefix),
        limit: 1,
        sortOrder: proto.SORT_ORDER.ASCEND,
        sortTarget: proto.SORT_TARGET.CREATE,
      }),
      this.#context,
    );
    const revision = header?.revision ?? this.#member.revision();
    return { kv: kvs[0] === undefined ? undefined : keyValueOf(kvs[0]), revision };
  }

  /** Resolves at the first change in the line, or to the one key, after a revision. */
  async changed(afterRevision: number, key?: Uint8Array): Promise<void> {
    const watched =
      key === undefined
        ? { key: this.#prefix, rangeEnd: prefixEnd(this.#prefix) }
        : { key, rangeEnd: NO_BYTES };
    await this.#member.permitRead(this.#context, watched);
    await new Promise<void>((resolve, reject) => {
      const { signal } = this.#context;
      const end = (finish: () => void): void => {
        signal.removeEventListener('abort', onAbort);
        // Not from within its own delivery.
        queueMicrotask(() => watcher.cancel());
        finish();
      };
      const onAbort = (): void => end(() => reject(new Error('context canceled')));
      const watcher = this.#member.watches.watch({
        ...watched,
        startRevision: afterRevision + 1,
        filters: [],
        prevKv: false,
        sink: {
          deliver() {
            end(resolve);
            return true;
          },
        },
      });
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  async #untilDeleted(key: Uint8Array, atRevision: number): Promise<void> {
    let seen = atRevision;
    for (;;) {
      await this.changed(seen, key);
      const { kvs = [], header } = await this.#member.range(range({ key }), this.#context);
      if (kvs.length === 0) return;
      seen = header?.revision ?? seen;
    }
  }

  async #lastBefore(revision: number): Promise<{ key: Uint8Array; atRevision: number } | undefined> {
    const { kvs = [], header } = await this.#member.range(
      range({
        key: this.#prefix,
        rangeEnd: prefixEnd(this.#prefix),
        limit: 1,
        sortOrder: proto.SORT_ORDER.DESCEND,
        sortTarget: proto.SORT_TARGET.CREATE,
        maxCreateRevision: revision - 1,
      }),
      this.#context,
    );
    if (kvs[0] === undefined) return undefined;
    return { key: keyValueOf(kvs[0]).key, atRevision: header?.revision ?? revision };
  }

  async #newLease(): Promise<bigint> {
    const request = proto.LeaseGrantRequest.decode(
      proto.LeaseGrantRequest.encode({ TTL: SESSION_TTL_SECONDS }),
    );
    const { ID = 0n } = await this.#member.leaseGrant(request, this.#context);
    return ID;
  }
}
