import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { ReasonError } from '../../base/errors.ts';
import type { HostStart } from '../host/messages.ts';
import type { HostLauncher, LaunchedHost } from '../supervisor/host-launcher.ts';

const RESTART_MS_MIN = 1_000;
const RESTART_MS_MAX = 30_000;
/** One that ran so long begins with the shortest pause again. */
const STEADY_MS = 60_000;
const STOP_GRACE_MS = 10_000;
/** After the grace it is killed; containers of a real runtime continue either way. */
const STOP_MS_MAX = 15_000;

export interface KeptHost {
  /** Rejects when the host cannot run at all. */
  readonly failed: Promise<never>;
  stop(): Promise<void>;
}

/** One host process: started again whenever it exits, after a pause that doubles. */
export const keepHost = (options: {
  readonly name: string;
  readonly start: HostStart;
  readonly launch: HostLauncher;
  readonly clock: Clock;
  onExit(why: string): void;
}): KeptHost => {
  const { name, start, launch, clock, onExit } = options;
  let running: LaunchedHost | undefined;
  let again: Disposable | undefined;
  let pauseMs = RESTART_MS_MIN;
  let isStopping = false;
  let ended: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  failed.catch(() => undefined);
  const begin = (): void => {
    const startedMs = clock.monotonicMs();
    let refusal: string | undefined;
    running = launch(name, {
      onMessage: (message) => {
        if (message.kind === 'failed') refusal = message.message;
      },
      onExit: ({ code, signal, why }) => {
        running = undefined;
        ended();
        if (isStopping) return;
        const isSteady = clock.monotonicMs() - startedMs > STEADY_MS;
        const reason = refusal ?? why ?? (signal === null ? `code ${code}` : `signal ${signal}`);
        // What a first start refuses, such as a port that is taken, a person must change.
        if (refusal !== undefined && !isSteady) return fail(new ReasonError('HostFailed', refusal));
        onExit(reason);
        pauseMs = isSteady ? RESTART_MS_MIN : Math.min(2 * pauseMs, RESTART_MS_MAX);
        again = clock.after(pauseMs, begin);
      },
    });
    running.send({ kind: 'start', start });
  };
  begin();
  return {
    failed,
    async stop() {
      isStopping = true;
      again?.dispose();
      if (!running) return;
      const over = new Promise<void>((resolve) => (ended = resolve));
      running.send({ kind: 'stop', graceMs: STOP_GRACE_MS });
      const late = clock.after(STOP_MS_MAX, () => running?.signal('SIGKILL'));
      await over;
      late.dispose();
    },
  };
};
