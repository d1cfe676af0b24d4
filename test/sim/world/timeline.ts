import { toDisposable, type Disposable } from '../../../core/base/disposable.ts';

/** What an event belongs to. What is dead gets none any more, what is frozen gets them when it thaws. */
export interface EventOwner {
  readonly isAlive: boolean;
  readonly isFrozen: boolean;
  /** Takes an event that came due while frozen. */
  keep(run: () => void): void;
}

interface SimEvent {
  readonly dueMs: number;
  readonly order: number;
  readonly run: () => void;
  readonly owner: EventOwner | undefined;
  isCancelled: boolean;
}

/**
 * Steps of the microtask queue after each event. Longer chains of promises continue during later events, which is
 * as if they took time, and as deterministic: no real timer, thread or socket ever takes part.
 */
const MICROTASK_STEPS = 10;

const isBefore = (a: SimEvent, b: SimEvent): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

/** The one true time of a simulation, and everything that is going to happen in it. */
export class Timeline {
  readonly #heap: SimEvent[] = [];
  #nowMs = 0;
  #order = 0;
  #stamp = 0;
  eventCount = 0;
  /** Nothing that happens may throw into the event loop: it would end a real process. */
  onThrown: (error: unknown) => void = () => undefined;

  get nowMs(): number {
    return this.#nowMs;
  }

  /** Grows with every call: the order in which things were seen to happen. */
  stamp(): number {
    return (this.#stamp += 1);
  }

  after(delayMs: number, run: () => void, owner?: EventOwner): Disposable {
    const event: SimEvent = {
      dueMs: this.#nowMs + Math.max(0, delayMs),
      order: (this.#order += 1),
      run,
      owner,
      isCancelled: false,
    };
    this.#push(event);
    return toDisposable(() => (event.isCancelled = true));
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => this.after(delayMs, resolve));
  }

  /** Lets things happen until `isOver`, asked after every event, or until nothing is left before `untilMs`. */
  async run(untilMs: number, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const event = this.#heap[0];
      if (event === undefined || event.dueMs > untilMs) break;
      this.#pop();
      this.#nowMs = event.dueMs;
      if (event.isCancelled || event.owner?.isAlive === false) continue;
      if (event.owner?.isFrozen) {
        event.owner.keep(event.run);
        continue;
      }
      this.eventCount += 1;
      try {
        event.run();
      } catch (error) {
        this.onThrown(error);
      }
      for (let step = 0; step < MICROTASK_STEPS; step += 1) await undefined;
    }
    if (!isOver()) this.#nowMs = Math.max(this.#nowMs, untilMs);
  }

  #push(event: SimEvent): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(event, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
      if (!isBefore(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}
