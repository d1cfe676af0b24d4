import type { Compare, PutRequest, RangeRequest, TxnOp, TxnRequest } from '../model.ts';

/** A key-value as plain data, for whole-value assertions. */
export interface PlainKv {
  readonly key: string;
  readonly value: string;
  readonly createRevision: number;
  readonly modRevision: number;
  readonly version: number;
  readonly lease: bigint;
}

type State = ReadonlyMap<string, PlainKv>;

const text = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString('latin1');

/**
 * What etcd documents, written as simply as possible: the whole state of every revision is kept. Slow and
 * obvious, so that the store can be compared with it.
 */
export class ModelStore {
  states: State[] = [new Map(), new Map()];
  events: { revision: number; type: 'put' | 'delete'; key: string; value: string }[] = [];
  compactRevision = -1;
  #step: Map<string, PlainKv> | undefined;

  get revision(): number {
    return this.states.length - 1;
  }

  range(request: RangeRequest): unknown {
    if ((request.revision ?? 0) > this.revision) return 'FutureRevision';
    if (request.revision && request.revision < this.compactRevision) return 'Compacted';
    return this.#range(request, this.states[request.revision || this.revision] as State, this.revision);
  }

  put(request: PutRequest): unknown {
    const before = this.#now.get(text(request.key));
    if ((request.ignoreValue || request.ignoreLease) && before === undefined) return 'KeyNotFound';
    return this.#whole(() => this.#put(request));
  }

  deleteRange(request: {
    key: Uint8Array;
    rangeEnd?: Uint8Array | undefined;
    prevKv?: boolean | undefined;
  }): unknown {
    return this.#whole(() => this.#deleteRange(request));
  }

  txn(request: TxnRequest): unknown {
    const before = this.#now;
    const refused = this.#refusal(request, before);
    if (refused !== undefined) return refused;
    const result = this.#whole(() => this.#txn(request, before));
    return { ...result, revision: this.revision };
  }

  compact(revision: number): unknown {
    if (revision <= this.compactRevision) return 'Compacted';
    if (revision > this.revision) return 'FutureRevision';
    this.compactRevision = revision;
    return 'ok';
  }

  get #now(): State {
    return this.#step ?? (this.states[this.revision] as State);
  }
  get #stepRevision(): number {
    return this.#step === undefined ? this.revision : this.revision + 1;
  }

  #whole<T>(act: () => T): T {
    const result = act();
    if (this.#step !== undefined) this.states.push(this.#step);
    this.#step = undefined;
    return result;
  }

  #inRange(key: string, range: { key: Uint8Array; rangeEnd?: Uint8Array | undefined }): boolean {
    const start = text(range.key);
    const end = text(range.rangeEnd);
    if (end === '') return key === start;
    return key >= start && (end === '\0' || key < end);
  }

  #select(state: State, range: { key: Uint8Array; rangeEnd?: Uint8Array | undefined }): PlainKv[] {
    return [...state.values()]
      .filter((kv) => this.#inRange(kv.key, range))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #range(r: RangeRequest, state: State, revision: number): unknown {
    const all = this.#select(state, r);
    let kvs = r.countOnly ? [] : [...all];
    const isFiltered = r.minModRevision || r.maxModRevision || r.minCreateRevision || r.maxCreateRevision;
    const target = r.sortTarget ?? 'key';
    const order = r.sortOrder ?? 'none';
    const isPlain = order === 'none' || (order === 'ascend' && target === 'key');
    if (r.limit && isPlain && !isFiltered) kvs = kvs.slice(0, r.limit + 1);
    kvs = kvs.filter(
      (kv) =>
        (!r.minModRevision || kv.modRevision >= r.minModRevision) &&
        (!r.maxModRevision || kv.modRevision <= r.maxModRevision) &&
        (!r.minCreateRevision || kv.createRevision >= r.minCreateRevision) &&
        (!r.maxCreateRevision || kv.createRevision <= r.maxCreateRevision),
    );
    const field = {
      key: 'key',
      version: 'version',
      create: 'createRevision',
      mod: 'modRevision',
      value: 'value',
    } as const;
    const by = field[target];
    const sign = order === 'descend' ? -1 : 1;
    kvs.sort((a, b) => sign * (a[by] < b[by] ? -1 : a[by] > b[by] ? 1 : 0));
    const more = Boolean(r.limit) && kvs.length > (r.limit as number);
    if (r.limit) kvs = kvs.slice(0, r.limit);
    if (r.keysOnly) kvs = kvs.map((kv) => ({ ...kv, value: '' }));
    return { revision, kvs, more, count: all.length };
  }

  #put(request: PutRequest): unknown {
    const key = text(request.key);
    const before = this.#now.get(key);
    const modRevision = this.revision + 1;
    const kv: PlainKv = {
      key,
      value: request.ignoreValue ? (before?.value ?? '') : text(request.value),
      createRevision: before?.createRevision ?? modRevision,
      modRevision,
      version: (before?.version ?? 0) + 1,
      lease: request.ignoreLease ? (before?.lease ?? 0n) : (request.lease ?? 0n),
    };
    this.#step ??= new Map(this.#now);
    this.#step.set(key, kv);
    this.events.push({ revision: modRevision, type: 'put', key, value: kv.value });
    return { revision: modRevision, prevKv: request.prevKv ? before : undefined };
  }

  #deleteRange(request: {
    key: Uint8Array;
    rangeEnd?: Uint8Array | undefined;
    prevKv?: boolean | undefined;
  }): unknown {
    const gone = this.#select(this.#now, request);
    for (const { key } of gone) {
      this.#step ??= new Map(this.#now);
      this.#step.delete(key);
      this.events.push({ revision: this.revision + 1, type: 'delete', key, value: '' });
    }
    return { revision: this.#stepRevision, deleted: gone.length, prevKvs: request.prevKv ? gone : [] };
  }

  #branch(request: TxnRequest, before: State): readonly TxnOp[] {
    return request.compare.every((compare) => this.#holds(compare, before))
      ? request.success
      : request.failure;
  }

  #refusal(request: TxnRequest, before: State): string | undefined {
    for (const op of this.#branch(request, before)) {
      if (op.type === 'range' && (op.request.revision ?? 0) > this.revision) return 'FutureRevision';
      if (op.type === 'range' && op.request.revision && op.request.revision < this.compactRevision)
        return 'Compacted';
      if (
        op.type === 'put' &&
        (op.request.ignoreValue || op.request.ignoreLease) &&
        !before.has(text(op.request.key))
      )
        return 'KeyNotFound';
      const nested = op.type === 'txn' ? this.#refusal(op.request, before) : undefined;
      if (nested !== undefined) return nested;
    }
    return undefined;
  }

  #txn(request: TxnRequest, before: State): object {
    const ops = this.#branch(request, before);
    const responses: unknown[] = ops.map((op) => {
      if (op.type === 'put') return { type: op.type, result: this.#put(op.request) };
      if (op.type === 'delete-range') return { type: op.type, result: this.#deleteRange(op.request) };
      if (op.type === 'txn') return { type: op.type, result: this.#txn(op.request, before) };
      const at = op.request.revision;
      const state = at && at <= this.revision ? (this.states[at] as State) : this.#now;
      return { type: op.type, result: this.#range(op.request, state, this.#stepRevision) };
    });
    return { revision: this.#stepRevision, succeeded: ops === request.success, responses };
  }

  #holds(compare: Compare, state: State): boolean {
    const kvs = this.#select(state, compare);
    if (kvs.length === 0 && compare.target === 'value') return false;
    const none: PlainKv = { key: '', value: '', createRevision: 0, modRevision: 0, version: 0, lease: 0n };
    return (kvs.length === 0 ? [none] : kvs).every((kv) => {
      const field = {
        version: kv.version,
        create: kv.createRevision,
        mod: kv.modRevision,
        value: kv.value,
        lease: kv.lease,
      };
      const actual = field[compare.target];
      const operand = compare.target === 'value' ? text(compare.operand) : compare.operand;
      if (compare.result === 'equal') return actual === operand;
      if (compare.result === 'not-equal') return actual !== operand;
      return compare.result === 'greater' ? actual > operand : actual < operand;
    });
  }
}
