/** Upstream's `imageGCHighThresholdPercent`, `imageGCLowThresholdPercent` and `imageMinimumGCAge`. */
export const IMAGE_GC = { highPercent: 85, lowPercent: 80, ageMsMin: 120_000 } as const;

export interface StoredImage {
  readonly id: string;
  readonly sizeBytes: number;
  readonly isPinned: boolean;
}

export interface Disk {
  readonly capacityBytes: number;
  readonly availableBytes: number;
}

interface Known {
  readonly sinceMs: number;
  lastUsedMs: number;
}

/** How much has to go from a disk that is too full; 0 when nothing has to. */
export const bytesToFree = ({ capacityBytes, availableBytes }: Disk): number => {
  const usedPercent = capacityBytes === 0 ? 0 : 100 - Math.floor((availableBytes * 100) / capacityBytes);
  if (usedPercent < IMAGE_GC.highPercent) return 0;
  return Math.max(0, Math.ceil((capacityBytes * (100 - IMAGE_GC.lowPercent)) / 100) - availableBytes);
};

/** Which images are in use, and since when they are not. */
export class ImageUse {
  readonly #known = new Map<string, Known>();

  /** What there is now, and what of it containers use. */
  observe(images: readonly StoredImage[], used: ReadonlySet<string>, nowMs: number): void {
    const ids = new Set(images.map(({ id }) => id));
    for (const id of [...this.#known.keys()]) if (!ids.has(id)) this.#known.delete(id);
    for (const id of ids) {
      const known = this.#known.get(id) ?? { sinceMs: nowMs, lastUsedMs: 0 };
      if (used.has(id)) known.lastUsedMs = nowMs;
      this.#known.set(id, known);
    }
  }

  /** Those that may go, the longest unused first, then the oldest: no more than it takes to free so much. */
  removable(images: readonly StoredImage[], used: ReadonlySet<string>, wantedBytes: number, nowMs: number) {
    const candidates = images
      .filter(({ id, isPinned }) => {
        const sinceMs = this.#known.get(id)?.sinceMs ?? nowMs;
        return !isPinned && !used.has(id) && nowMs - sinceMs >= IMAGE_GC.ageMsMin;
      })
      .sort((a, b) => {
        const [x, y] = [this.#known.get(a.id)!, this.#known.get(b.id)!];
        return x.lastUsedMs - y.lastUsedMs || x.sinceMs - y.sinceMs;
      });
    const going: StoredImage[] = [];
    let freedBytes = 0;
    for (const image of candidates) {
      if (freedBytes >= wantedBytes) break;
      going.push(image);
      freedBytes += image.sizeBytes;
    }
    return { going, freedBytes } as const;
  }
}
