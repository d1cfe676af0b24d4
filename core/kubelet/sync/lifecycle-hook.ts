import type { Clock } from '../../base/clock.ts';
import type { V1Container, V1LifecycleHandler } from '../../api/schema/index.ts';
import { runAction, type ActionTarget } from '../probes/action.ts';

/** Hooks of images cannot be asked; a hook that hangs is cut off when its time is up. */
export const POST_START_TIMEOUT_MS = 120_000;

/** Runs a hook to its end; rejects with the reason when it fails. */
export const runHook = async (
  handler: V1LifecycleHandler,
  target: ActionTarget & { readonly clock: Clock; readonly spec: V1Container },
  timeoutMs: number,
): Promise<void> => {
  if (handler.sleep) {
    const sleepMs = Math.min(handler.sleep.seconds * 1000, timeoutMs);
    await new Promise<void>((resolve) => target.clock.after(sleepMs, resolve));
    return;
  }
  const outcome = await runAction(handler, target, timeoutMs);
  if (!outcome.ok) throw new Error(outcome.output);
};
