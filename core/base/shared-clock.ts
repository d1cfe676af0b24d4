import type { Clock } from './clock.ts';
import { toDisposable, type Disposable } from './disposable.ts';

interface Timer {
  dueMs: number;
  order: number;
  run: (() => void) | undefined;
}

const before = (a: Timer, b: Timer): boolean =>
  a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);

export interface SharedClockOptions {
  /** Waits of at least this long end together, at its multiples: up to so much later than asked. 0 is never. */
  readonly gridMs?: number;
}

/**
 * One timer of the platform for all of a process: a thousand nodes and ten thousand pods keep their heartbeats,
 * probes and back-offs in one heap. Cancelled timers stay in it, empty, until they are due.
 */
export const sharedClock = (clock: Clock, { gridMs = 0 }: SharedClockOptions = {}): Clock & Disposable => {
  const heap: Timer[] = [];
  let order = 0;
  let armed: { readonly dueMs: number; readonly timer: Disposable } | undefined;

  const push = (timer: Timer): void => {
    let index = heap.push(timer) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!before(timer, heap[parent]!)) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = timer;
  };

  const pop = (): Timer => {
    const top = heap[0]!;
    const last = heap.pop()!;
    if (heap.length === 0) return top;
    let index = 0;
    for (;;) {
      const left = 2 * index + 1;
      if (left >= heap.length) break;
      const right = left + 1;
      const child = right < heap.length && before(heap[right]!, heap[left]!) ? right : left;
      if (!before(heap[child]!, last)) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = last;
    return top;
  };

  const arm = (): void => {
    const next = heap[0];
    if (next === undefined || (armed && armed.dueMs <= next.dueMs)) return;
    armed?.timer.dispose();
    // Whole milliseconds, as timers count them: one that came early would have to wait again.
    const delayMs = Math.max(0, Math.ceil(next.dueMs - clock.monotonicMs()));
    armed = { dueMs: next.dueMs, timer: clock.after(delayMs, fire) };
  };

  const fire = (): void => {
    armed = undefined;
    const nowMs = clock.monotonicMs();
    while (heap.length > 0 && heap[0]!.dueMs <= nowMs) pop().run?.();
    arm();
  };

  const dueAfter = (delayMs: number): number => {
    const dueMs = clock.monotonicMs() + Math.max(0, delayMs);
    return gridMs > 0 && delayMs >= gridMs ? Math.ceil(dueMs / gridMs) * gridMs : dueMs;
  };

  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after(delayMs, run) {
      const timer: Timer = { dueMs: dueAfter(delayMs), order: (order += 1), run };
      push(timer);
      arm();
      return toDisposable(() => (timer.run = undefined));
    },
    dispose() {
      heap.length = 0;
      armed?.timer.dispose();
      armed = undefined;
    },
  };
};
