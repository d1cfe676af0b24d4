import type { Disposable } from '../disposable.ts';

export interface LimitedSignal extends Disposable {
  readonly signal: AbortSignal;
}

/**
 * A signal that is aborted with `outer`, or on its own after `limitMs`. The caller disposes it when the work is done.
 * `AbortSignal.any` with `AbortSignal.timeout` does not do: the garbage collector of Node 20 takes the timeout away,
 * and the work waits for ever.
 */
export const limitedSignal = (outer: AbortSignal, limitMs: number): LimitedSignal => {
  const controller = new AbortController();
  const follow = (): void => controller.abort(outer.reason);
  const timer = setTimeout(
    () => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')),
    limitMs,
  );
  timer.unref();
  if (outer.aborted) follow();
  else outer.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    dispose() {
      clearTimeout(timer);
      outer.removeEventListener('abort', follow);
    },
  };
};
