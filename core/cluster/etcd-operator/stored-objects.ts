import type { EtcdConnection } from './connection.ts';
import { OPERATOR } from './methods.ts';

const PREFIX = Buffer.from('/registry/');
/** The first key after all of the prefix. */
const PREFIX_END = Buffer.from('/registry0');
const PAGE_KEYS = 1000;

export interface StoredObject {
  readonly key: string;
  /** Empty where only keys were asked for. */
  readonly value: Uint8Array;
}

/** Every object that API servers keep, at one revision, page by page. */
export async function* storedObjects(
  member: EtcdConnection,
  options: { readonly keysOnly: boolean; onRevision?(revision: number): void },
): AsyncGenerator<StoredObject> {
  let key = PREFIX;
  let revision = 0;
  for (;;) {
    const page = await member.call(OPERATOR.range, {
      key,
      rangeEnd: PREFIX_END,
      limit: PAGE_KEYS,
      revision,
      keysOnly: options.keysOnly,
    });
    if (revision === 0) {
      revision = page.header?.revision ?? 0;
      options.onRevision?.(revision);
    }
    for (const kv of page.kvs) yield { key: Buffer.from(kv.key).toString(), value: kv.value };
    const last = page.kvs.at(-1);
    if (!page.more || last === undefined) return;
    key = Buffer.concat([last.key, Buffer.of(0)]);
  }
}
