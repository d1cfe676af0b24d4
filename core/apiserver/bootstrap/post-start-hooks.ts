import { toDisposable, type Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { HealthRegistry } from '../../component/health.ts';

export interface PostStartHook {
  /** As in `poststarthook/<name>`. */
  readonly name: string;
  /** Resolves when its work is done or has been handed to something that lasts. */
  run(signal: AbortSignal): Promise<void>;
}

export interface PostStartHooksOptions {
  readonly health: HealthRegistry;
  readonly log: Log;
  /** A server whose hook failed must end: it would serve a cluster that is not set up. */
  onFailed(name: string, error: unknown): void;
}

/**
 * Registers a health check for each hook and runs them all at the same time. The server is ready when all are through.
 * Disposing tells those that run to end, and takes the checks away.
 */
export const startPostStartHooks = (
  hooks: readonly PostStartHook[],
  { health, log, onFailed }: PostStartHooksOptions,
): Disposable => {
  const stop = new AbortController();
  const checks = hooks.map((hook) => {
    let state: 'running' | 'done' | 'failed' = 'running';
    const check = health.add({
      name: `poststarthook/${hook.name}`,
      check() {
        if (state !== 'done')
          throw new ReasonError('HookNotDone', state === 'failed' ? 'hook failed' : 'not finished');
      },
    });
    hook.run(stop.signal).then(
      () => {
        state = 'done';
        log.write('info', 'a post-start hook is through', { hook: hook.name });
      },
      (error: unknown) => {
        state = 'failed';
        if (!stop.signal.aborted) onFailed(hook.name, error);
      },
    );
    return check;
  });
  return toDisposable(() => {
    stop.abort();
    for (const check of checks) check.dispose();
  });
};
