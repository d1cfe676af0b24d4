import type { Clock } from '../../base/clock.ts';

const CLIENTS_MAX = 10_000;

interface Bond {
  readonly name: string;
  readonly usedMs: number;
}

/**
 * `sessionAffinity: ClientIP`: a client continues with the target it had, until it has stayed away for the timeout. Each
 * new connection restarts the timeout. When there are too many clients, the least recent are dropped.
 */
export class SessionAffinity {
  readonly #clock: Clock;
  readonly #clientsMax: number;
  #timeoutMs: number;
  readonly #bonds = new Map<string, Bond>();

  constructor(options: { readonly clock: Clock; readonly timeoutMs: number; readonly clientsMax?: number }) {
    this.#clock = options.clock;
    this.#timeoutMs = options.timeoutMs;
    this.#clientsMax = options.clientsMax ?? CLIENTS_MAX;
  }

  set timeoutMs(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  get size(): number {
    return this.#bonds.size;
  }

  /** The name of the target that the client had. */
  find(client: string): string | undefined {
    const bond = this.#bonds.get(client);
    if (!bond) return undefined;
    if (this.#clock.monotonicMs() - bond.usedMs < this.#timeoutMs) return bond.name;
    this.#bonds.delete(client);
    return undefined;
  }

  bind(client: string, name: string): void {
    // Taken out first, so that the order of the map is that of the last use.
    this.#bonds.delete(client);
    this.#bonds.set(client, { name, usedMs: this.#clock.monotonicMs() });
    if (this.#bonds.size <= this.#clientsMax) return;
    const oldest = this.#bonds.keys().next().value;
    if (oldest !== undefined) this.#bonds.delete(oldest);
  }

  /** Clients of removed targets are assigned again. */
  retain(isThere: (name: string) => boolean): void {
    for (const [client, { name }] of this.#bonds) if (!isThere(name)) this.#bonds.delete(client);
  }
}
