import { KeyValue, encodeKeyValue, EMPTY, NO_LEASE } from './key-value.ts';

/**
 * A key as a string of one character per byte (latin1). Such strings compare exactly as the bytes do, hash
 * fast and cost one byte a character, which makes them the better key of maps and ordered structures.
 */
export type KeyString = string;

export const keyString = (bytes: Uint8Array): KeyString =>
  (bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)).toString(
    'latin1',
  );
export const keyBytes = (key: KeyString): Buffer => Buffer.from(key, 'latin1');

/**
 * Keys from `key` on. Without (or with an empty) `rangeEnd` that one key, with `\0` all keys from there, else
 * all below `rangeEnd`.
 */
export interface KeyRange {
  readonly key: Uint8Array;
  readonly rangeEnd?: Uint8Array | undefined;
}

/** `end`: undefined is a single key, '' has no upper bound. */
export interface KeySpan {
  readonly start: KeyString;
  readonly end: KeyString | undefined;
}

export const toSpan = (range: KeyRange): KeySpan => {
  const start = keyString(range.key);
  const { rangeEnd } = range;
  if (rangeEnd === undefined || rangeEnd.byteLength === 0) return { start, end: undefined };
  return { start, end: rangeEnd.byteLength === 1 && rangeEnd[0] === 0 ? '' : keyString(rangeEnd) };
};

export type SortOrder = 'none' | 'ascend' | 'descend';
export type SortTarget = 'key' | 'version' | 'create' | 'mod' | 'value';

/** 0 and undefined mean "not given" in every number, as in the protocol. */
export interface RangeRequest extends KeyRange {
  readonly limit?: number | undefined;
  readonly revision?: number | undefined;
  readonly sortOrder?: SortOrder | undefined;
  readonly sortTarget?: SortTarget | undefined;
  readonly keysOnly?: boolean | undefined;
  readonly countOnly?: boolean | undefined;
  readonly minModRevision?: number | undefined;
  readonly maxModRevision?: number | undefined;
  readonly minCreateRevision?: number | undefined;
  readonly maxCreateRevision?: number | undefined;
}

export interface RangeResult {
  /** Of the store when it answered; goes into the response header. */
  readonly revision: number;
  readonly kvs: readonly KeyValue[];
  readonly more: boolean;
  /** All keys in the range, whatever limit and filters left out. */
  readonly count: number;
}

export interface PutRequest {
  readonly key: Uint8Array;
  readonly value: Uint8Array;
  readonly lease?: bigint | undefined;
  readonly prevKv?: boolean | undefined;
  readonly ignoreValue?: boolean | undefined;
  readonly ignoreLease?: boolean | undefined;
}

export interface PutResult {
  readonly revision: number;
  readonly prevKv: KeyValue | undefined;
}

export interface DeleteRangeRequest extends KeyRange {
  readonly prevKv?: boolean | undefined;
}

export interface DeleteRangeResult {
  readonly revision: number;
  readonly deleted: number;
  readonly prevKvs: readonly KeyValue[];
}

export type CompareResult = 'equal' | 'greater' | 'less' | 'not-equal';

/** `lease` and `value` compare what their names say; the rest compare numbers. */
export type CompareTarget =
  | { readonly target: 'version' | 'create' | 'mod'; readonly operand: number }
  | { readonly target: 'value'; readonly operand: Uint8Array }
  | { readonly target: 'lease'; readonly operand: bigint };

export type Compare = KeyRange & CompareTarget & { readonly result: CompareResult };

export type TxnOp =
  | { readonly type: 'range'; readonly request: RangeRequest }
  | { readonly type: 'put'; readonly request: PutRequest }
  | { readonly type: 'delete-range'; readonly request: DeleteRangeRequest }
  | { readonly type: 'txn'; readonly request: TxnRequest };

export interface TxnRequest {
  readonly compare: readonly Compare[];
  readonly success: readonly TxnOp[];
  readonly failure: readonly TxnOp[];
}

export type TxnOpResult =
  | { readonly type: 'range'; readonly result: RangeResult }
  | { readonly type: 'put'; readonly result: PutResult }
  | { readonly type: 'delete-range'; readonly result: DeleteRangeResult }
  | { readonly type: 'txn'; readonly result: TxnResult };

export interface TxnResult {
  /** Only that of the outermost transaction is meaningful; etcd leaves nested headers empty. */
  readonly revision: number;
  readonly succeeded: boolean;
  readonly responses: readonly TxnOpResult[];
}

/**
 * One change of one key. The same object goes to every watcher of the change, so whatever is computed from it
 * (`encodedKv`, the previous version) is computed once.
 */
export class Event {
  readonly type: 'put' | 'delete';
  readonly key: KeyString;
  readonly modRevision: number;
  /** Filled by the watch hub for watchers that ask for it; null when the key did not exist before. */
  prevKv: KeyValue | null | undefined;
  readonly #stored: Buffer;
  #kv: KeyValue | undefined;

  constructor(type: 'put' | 'delete', key: KeyString, modRevision: number, stored: Buffer) {
    this.type = type;
    this.key = key;
    this.modRevision = modRevision;
    this.#stored = stored;
  }

  /** As clients see it. A tombstone is stored as its key alone; its revision is in the revision bytes. */
  get kv(): KeyValue {
    return (this.#kv ??= new KeyValue(
      this.type === 'put'
        ? this.#stored
        : encodeKeyValue(keyBytes(this.key), 0, this.modRevision, 0, EMPTY, NO_LEASE),
    ));
  }
}
