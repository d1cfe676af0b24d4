/** A stored value as it was before it was encrypted. */
export interface PlainValue {
  readonly value: Uint8Array;
  /** Written with another key than the one used now: the next update writes it again, even unchanged. */
  readonly isStale: boolean;
}

/**
 * What stands between objects and their bytes in etcd. The key is authenticated with the value, so that no value can be
 * moved to another key. Answers directly where no one else is asked: a read of many values then costs no turn for each.
 */
export interface ValueTransformer {
  fromStorage(data: Uint8Array, key: string): PlainValue | Promise<PlainValue>;
  toStorage(value: Uint8Array, key: string): Uint8Array | Promise<Uint8Array>;
}
