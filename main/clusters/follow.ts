import { BoundedQueue } from '../../core/base/bounded-queue.ts';
import type { Disposable } from '../../core/base/disposable.ts';

export interface Followed<T> {
  now(): T;
  onChange(listener: (value: T) => void): Disposable;
  /** Ends the stream when it aborts. */
  readonly gone?: AbortSignal;
}

/** The value now and the newest after every change, for one listener; what it missed in between is not told. */
export async function* followNewest<T>(source: Followed<T>, signal: AbortSignal): AsyncGenerator<T[]> {
  const queue = new BoundedQueue<T>({ itemsMax: 1, overflow: 'drop-oldest' });
  const close = (): void => queue.close();
  const ends = [signal, ...(source.gone ? [source.gone] : [])];
  for (const end of ends) end.addEventListener('abort', close, { once: true });
  const following = source.onChange((value) => void queue.push(value));
  try {
    queue.push(source.now());
    if (ends.some(({ aborted }) => aborted)) return;
    for await (const batch of queue.batches(1)) yield batch;
  } finally {
    following.dispose();
    for (const end of ends) end.removeEventListener('abort', close);
    queue.close();
  }
}
