import { StorageError } from '../../storage/errors.ts';
import type { Store } from '../../storage/store.ts';

const PREFIX = '/registry/masterleases/';
/** Upstream's DefaultEndpointReconcilerTTL: a server that is gone is out of the endpoints this much later. */
export const MASTER_LEASE_TTL_SECONDS = 15;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

interface LeaseRecord {
  readonly metadata: { readonly generation: number };
}

const generationOf = (value: Uint8Array | undefined): number => {
  if (!value) return 0;
  try {
    return (JSON.parse(decoder.decode(value)) as Partial<LeaseRecord>).metadata?.generation ?? 0;
  } catch (error) {
    // Written by another kind of server, in another encoding: it is about to be replaced.
    if (error instanceof SyntaxError) return 0;
    throw error;
  }
};

/** An Endpoints object, as upstream keeps it, that differs each time: an unchanged value would renew nothing. */
const recordOf = (ip: string, generation: number): Uint8Array =>
  encoder.encode(
    JSON.stringify({
      kind: 'Endpoints',
      apiVersion: 'v1',
      metadata: { generation, creationTimestamp: null },
      subsets: [{ addresses: [{ ip }] }],
    }),
  );

/** The addresses of the servers that are alive, in etcd itself: each key ends unless its server renews it. */
export class MasterLeases {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  /** The key alone tells the address, in whatever encoding the value is. */
  async list(): Promise<readonly string[]> {
    const { items } = await this.#store.list(PREFIX);
    return items.map(({ key }) => key.slice(PREFIX.length)).filter((ip) => ip !== '');
  }

  async renew(ip: string): Promise<void> {
    await this.#store.guaranteedUpdate(`${PREFIX}${ip}`, {
      createIfMissing: true,
      transform: (current) => ({
        value: recordOf(ip, generationOf(current?.value) + 1),
        ttlSeconds: MASTER_LEASE_TTL_SECONDS,
      }),
    });
  }

  /** True when there was one. */
  async remove(ip: string): Promise<boolean> {
    try {
      await this.#store.delete(`${PREFIX}${ip}`);
      return true;
    } catch (error) {
      if (error instanceof StorageError && error.reason === 'NotFound') return false;
      throw error;
    }
  }
}
