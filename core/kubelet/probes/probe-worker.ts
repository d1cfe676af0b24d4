import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { V1Probe } from '../../api/schema/index.ts';
import type { ProbeAnswer, ProbeKind } from '../runtimes/runtime.ts';
import { runAction, type ActionTarget } from './action.ts';

export interface ProbeOptions {
  readonly kind: ProbeKind;
  readonly probe: V1Probe;
  readonly target: ActionTarget;
  /** The threshold was reached; for liveness and startup nothing more is probed after a failure. */
  onResult(kind: ProbeKind, ok: boolean): void;
  /** In upstream's words: `Readiness probe failed: ...`. */
  onUnhealthy(message: string): void;
  /** For the metrics: every single try. */
  onAttempt?(kind: ProbeKind, result: 'successful' | 'failed'): void;
}

const TITLES: Readonly<Record<ProbeKind, string>> = {
  startup: 'Startup',
  liveness: 'Liveness',
  readiness: 'Readiness',
};

const PERIOD_SECONDS_DEFAULT = 10;
const FAILURES_DEFAULT = 3;

/**
 * One probe of one start of a container. The first try is made as soon as the initial delay is over, the next ones
 * a period after the last began; a try that hangs delays the next, so there is never more than one.
 */
export const startProbe = (options: ProbeOptions): Disposable => {
  const { kind, probe, target } = options;
  const { clock } = target;
  const periodMs = (probe.periodSeconds ?? PERIOD_SECONDS_DEFAULT) * 1000;
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  const thresholds = {
    ok: probe.successThreshold ?? 1,
    failed: probe.failureThreshold ?? FAILURES_DEFAULT,
  };
  let timer: Disposable | undefined;
  let stopped = false;
  let lastOk: boolean | undefined;
  let run = 0;

  const schedule = (delayMs: number): void => {
    if (!stopped) timer = clock.after(delayMs, attempt);
  };

  const attempt = (): void => {
    const beganMs = clock.monotonicMs();
    void ask()
      .then(judge, (error: unknown) =>
        // An error of our own is told and thrown away: it says nothing about the container.
        report(`${TITLES[kind]} probe errored and resulted in unknown state: ${messageOf(error)}`),
      )
      .finally(() => schedule(Math.max(0, beganMs + periodMs - clock.monotonicMs())));
  };

  const ask = async (): Promise<ProbeAnswer> =>
    target.container.answerProbe?.(kind, probe) ?? (await runAction(probe, target, timeoutMs));

  const report = (message: string): void => {
    if (!stopped) options.onUnhealthy(message);
  };

  const judge = ({ ok, output }: ProbeAnswer): void => {
    if (stopped) return;
    options.onAttempt?.(kind, ok ? 'successful' : 'failed');
    if (!ok) report(`${TITLES[kind]} probe failed: ${output}`);
    run = lastOk === ok ? run + 1 : 1;
    lastOk = ok;
    if (run < (ok ? thresholds.ok : thresholds.failed)) return;
    // A container that is about to be restarted, or has started, needs no more of these.
    if (kind === 'startup' || (kind === 'liveness' && !ok)) stop();
    options.onResult(kind, ok);
  };

  const stop = (): void => {
    stopped = true;
    timer?.dispose();
  };

  schedule((probe.initialDelaySeconds ?? 0) * 1000);
  return { dispose: stop };
};
