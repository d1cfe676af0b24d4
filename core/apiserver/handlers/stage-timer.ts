import type { Clock } from '../../base/clock.ts';
import { isStatusError } from '../../api/meta/index.ts';
import type { RequestContext } from '../server/context.ts';

/** Parts of the handling of one request, as its trace shows them. */
export type HandlerStage =
  'streaming' | 'conversion' | 'mutating-admission' | 'validation' | 'validating-admission' | 'storage';

/** Shares the time of a request out among its parts: each `enter` ends the stretch before it. */
export class StageTimer {
  readonly #context: RequestContext;
  readonly #clock: Clock;
  readonly #durationsMs = new Map<HandlerStage, number>();
  #sinceMs: number;
  #current: HandlerStage = 'conversion';

  constructor(context: RequestContext, clock: Clock) {
    this.#context = context;
    this.#clock = clock;
    this.#sinceMs = clock.monotonicMs();
  }

  /** What runs from now on belongs to `stage`. */
  enter(stage: HandlerStage): void {
    const nowMs = this.#clock.monotonicMs();
    this.#durationsMs.set(this.#current, (this.#durationsMs.get(this.#current) ?? 0) + nowMs - this.#sinceMs);
    this.#sinceMs = nowMs;
    this.#current = stage;
  }

  /** Writes the parts into the trace; with what ended them, if it was a failure. */
  finish(error?: unknown): void {
    const last = this.#current;
    this.enter(last);
    for (const [stage, durationMs] of this.#durationsMs) {
      const isLast = stage === last && error !== undefined;
      const verdict = !isLast ? 'passed' : isStatusError(error) ? 'refused' : 'failed';
      this.#context.stages.push({
        stage,
        durationMs,
        verdict,
        ...(isLast && isStatusError(error) && { reason: error.reason }),
      });
    }
  }
}
