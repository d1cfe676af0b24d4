import { ReasonError } from '../../../base/errors.ts';
import type { Random } from '../../../base/random.ts';
import type { Store, StoredValue } from '../../storage/store.ts';

export type PortReason = 'Full' | 'Allocated' | 'OutOfRange';

/** Where upstream keeps the bitmap of node ports. */
export const NODE_PORTS_KEY = '/registry/ranges/servicenodeports';

const OFFSET_MIN = 16;
const OFFSET_MAX = 128;
const OFFSET_STEP = 32;

export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Bits of upstream's big integer: bit `n` is port `first + n`; the bytes are big-endian without leading zeros. */
export class PortBits {
  #bits: bigint;

  constructor(bytes: Uint8Array = new Uint8Array()) {
    const hex = Buffer.from(bytes).toString('hex');
    this.#bits = hex === '' ? 0n : BigInt(`0x${hex}`);
  }

  has(offset: number): boolean {
    return ((this.#bits >> BigInt(offset)) & 1n) === 1n;
  }

  set(offset: number, isTaken: boolean): void {
    const bit = 1n << BigInt(offset);
    this.#bits = isTaken ? this.#bits | bit : this.#bits & ~bit;
  }

  get bytes(): Buffer {
    if (this.#bits === 0n) return Buffer.alloc(0);
    const hex = this.#bits.toString(16);
    return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex');
  }
}

interface RangeAllocation {
  readonly range: string;
  readonly bits: PortBits;
  readonly metadata: object;
}

/** Node ports: one bitmap in etcd that all servers change by compare-and-swap. */
export class PortPool {
  readonly #store: Store;
  readonly #range: PortRange;
  readonly #random: Random;
  /** Ports that services hold, for a cluster that has no bitmap yet. */
  readonly #portsInUse: () => Promise<readonly number[]>;
  #tail: Promise<void> = Promise.resolve();

  constructor(options: {
    readonly store: Store;
    readonly range: PortRange;
    readonly random: Random;
    readonly portsInUse: () => Promise<readonly number[]>;
  }) {
    this.#store = options.store;
    this.#range = options.range;
    this.#random = options.random;
    this.#portsInUse = options.portsInUse;
  }

  get #text(): string {
    return `${this.#range.first}-${this.#range.last}`;
  }

  get #size(): number {
    return this.#range.last - this.#range.first + 1;
  }

  async take(port: number, isDryRun: boolean): Promise<void> {
    if (!this.#contains(port))
      throw new ReasonError<PortReason>(
        'OutOfRange',
        `provided port is not in the valid range. The range of valid ports is ${this.#text}`,
      );
    await this.#change(isDryRun, (bits) => {
      const offset = port - this.#range.first;
      if (bits.has(offset))
        throw new ReasonError<PortReason>('Allocated', 'provided port is already allocated');
      bits.set(offset, true);
    });
  }

  async takeNext(isDryRun: boolean): Promise<number> {
    let taken = 0;
    await this.#change(isDryRun, (bits) => {
      const offset = this.#nextFree(bits);
      if (offset === undefined) throw new ReasonError<PortReason>('Full', 'range is full');
      bits.set(offset, true);
      taken = this.#range.first + offset;
    });
    return taken;
  }

  async release(ports: readonly number[]): Promise<void> {
    const ours = ports.filter((port) => this.#contains(port));
    if (ours.length === 0) return;
    await this.#change(false, (bits) => {
      for (const port of ours) bits.set(port - this.#range.first, false);
    });
  }

  /** Marks what services hold, and frees what `isLeaked` says no one does. */
  async repair(inUse: ReadonlySet<number>, isLeaked: (port: number) => boolean): Promise<void> {
    await this.#change(false, (bits) => {
      for (let port = this.#range.first; port <= this.#range.last; port += 1) {
        const offset = port - this.#range.first;
        if (inUse.has(port)) bits.set(offset, true);
        else if (bits.has(offset) && isLeaked(port)) bits.set(offset, false);
      }
    });
  }

  #contains(port: number): boolean {
    return port >= this.#range.first && port <= this.#range.last;
  }

  #nextFree(bits: PortBits): number | undefined {
    const offset =
      this.#size <= OFFSET_MIN
        ? 0
        : Math.min(OFFSET_MAX, Math.max(OFFSET_MIN, Math.floor(this.#size / OFFSET_STEP)));
    return this.#scan(bits, offset, this.#size - offset) ?? this.#scan(bits, 0, offset);
  }

  #scan(bits: PortBits, from: number, size: number): number | undefined {
    if (size <= 0) return undefined;
    const start = this.#random.below(size);
    for (let i = 0; i < size; i += 1) {
      const at = from + ((start + i) % size);
      if (!bits.has(at)) return at;
    }
    return undefined;
  }

  async #change(isDryRun: boolean, change: (bits: PortBits) => void): Promise<void> {
    const transform = async (current: StoredValue | undefined): Promise<Buffer> => {
      const { bits, metadata } = current === undefined ? await this.#initial() : this.#decode(current);
      change(bits);
      return Buffer.from(
        JSON.stringify({
          kind: 'RangeAllocation',
          apiVersion: 'v1',
          metadata,
          range: this.#text,
          data: bits.bytes.toString('base64'),
        }),
      );
    };
    if (isDryRun) {
      const { items } = await this.#store.list(NODE_PORTS_KEY, { limit: 1 });
      await transform(items[0]);
      return;
    }
    // One after the other here, so that only other servers are in each other's way.
    const mine = this.#tail.then(() =>
      this.#store.guaranteedUpdate(NODE_PORTS_KEY, {
        createIfMissing: true,
        transform: async (current) => ({ value: await transform(current) }),
      }),
    );
    this.#tail = mine.then(
      () => undefined,
      () => undefined,
    );
    await mine;
  }

  async #initial(): Promise<RangeAllocation> {
    const bits = new PortBits();
    for (const port of await this.#portsInUse())
      if (this.#contains(port)) bits.set(port - this.#range.first, true);
    return { range: this.#text, bits, metadata: { creationTimestamp: null } };
  }

  #decode({ value }: StoredValue): RangeAllocation {
    const parsed = JSON.parse(Buffer.from(value).toString('utf8')) as {
      range?: string;
      data?: string;
      metadata?: object;
    };
    if (parsed.range !== this.#text)
      throw new ReasonError(
        'RangeMismatch',
        `node ports are kept for the range ${parsed.range}, and this server is configured for ${this.#text}`,
      );
    return {
      range: parsed.range,
      bits: new PortBits(Buffer.from(parsed.data ?? '', 'base64')),
      metadata: parsed.metadata ?? {},
    };
  }
}
