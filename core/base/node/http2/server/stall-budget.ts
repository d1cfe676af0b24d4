/** What a connection holds for a peer that does not take it. */
export interface StalledHolder {
  /** When the peer last took something, on the clock of the budget's owner. */
  readonly progressAtMs: number;
  /** Closes the connection and so lets go of everything. */
  evict(): void;
}

/**
 * Bounds the bytes that all connections of a listener together keep for peers that give no window or do not read.
 * Past the bound the connection goes whose peer has taken nothing for the longest time: one that reads, however
 * slowly, is never the first.
 */
export class StallBudget {
  readonly #bytesMax: number;
  readonly #held = new Map<StalledHolder, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get heldBytes(): number {
    return this.#bytes;
  }

  /** Replaces what the holder said before; 0 forgets it. */
  set(holder: StalledHolder, bytes: number): void {
    const before = this.#held.get(holder) ?? 0;
    if (bytes === before) return;
    if (bytes === 0) this.#held.delete(holder);
    else this.#held.set(holder, bytes);
    this.#bytes += bytes - before;
    while (this.#bytes > this.#bytesMax) {
      const victim = this.#longestStalled();
      if (victim === undefined) return;
      this.set(victim, 0);
      victim.evict();
    }
  }

  #longestStalled(): StalledHolder | undefined {
    let longest: StalledHolder | undefined;
    for (const holder of this.#held.keys())
      if (longest === undefined || holder.progressAtMs < longest.progressAtMs) longest = holder;
    return longest;
  }
}
