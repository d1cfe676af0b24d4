import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { toDisposable, type Disposable } from '../disposable.ts';

/** Of the objects that survived the last collection: how much the heap may grow before the next one. */
const GROWTH_PERCENT = 15;
/** Collecting a heap of this size so often would cost more than the memory is worth. */
const SMALL_BYTES_MAX = 128 * 1024 * 1024;
const CHECK_MS = 10_000;

/**
 * For a process whose objects are either short-lived or few, as those of most etcd members: V8 would let both generations
 * of its heap grow to several times what is in use, and what it takes it keeps. A heap that turns out to be large gets V8's
 * own rules back. Process-wide, so only for a process that runs nothing else; threads have `resourceLimits`.
 */
export const keepHeapSmall = (): Disposable => {
  const grow = (factor: number, percent: number): void => {
    setFlagsFromString(`--semi-space-growth-factor=${factor}`);
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  grow(1, GROWTH_PERCENT);
  const check = setInterval(() => {
    if (getHeapStatistics().used_heap_size < SMALL_BYTES_MAX) return;
    clearInterval(check);
    grow(2, 0);
  }, CHECK_MS);
  check.unref();
  return toDisposable(() => clearInterval(check));
};
