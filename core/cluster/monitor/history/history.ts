import type { ReadSpan, Sample } from './segment.ts';

/** Samples of one resolution, oldest first. */
export interface History {
  append(sample: Sample): Promise<void>;
  read(span: ReadSpan): Promise<readonly Sample[]>;
  /** The oldest moment there is. */
  firstMs(): Promise<number | null>;
  close(): Promise<void>;
}

/** For clusters that are not ours: while a page shows them, and no longer. */
export class MemoryHistory implements History {
  readonly #samplesMax: number;
  readonly #samples: Sample[] = [];

  constructor(samplesMax: number) {
    this.#samplesMax = samplesMax;
  }

  append(sample: Sample): Promise<void> {
    this.#samples.push(sample);
    if (this.#samples.length > this.#samplesMax) this.#samples.shift();
    return Promise.resolve();
  }

  read({ fromMs, toMs, charts }: ReadSpan): Promise<readonly Sample[]> {
    const within = this.#samples.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs);
    return Promise.resolve(
      charts
        ? within.map(({ atMs, points }) => ({
            atMs,
            points: points.filter(({ chart }) => charts.has(chart)),
          }))
        : within,
    );
  }

  firstMs(): Promise<number | null> {
    return Promise.resolve(this.#samples[0]?.atMs ?? null);
  }

  close(): Promise<void> {
    this.#samples.length = 0;
    return Promise.resolve();
  }
}
