import type { Clock } from '../../base/clock.ts';
import { hasReason, messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { isStatusError, StatusError } from '../../api/meta/index.ts';
import type { RequestContext } from './context.ts';
import { sendStatusError } from './response.ts';
import type { StageVerdict } from './trace.ts';

/** `next` hands the request on; `done` says that the stage has answered it. */
export type StageResult = 'next' | 'done';

/**
 * One step of the way of a request. It refuses by throwing a StatusError, leaves what later stages need in the
 * context, and gives back what it holds by `context.defer`. It knows nothing of the stages around it.
 */
export interface Stage {
  readonly name: string;
  run(context: RequestContext): StageResult | Promise<StageResult>;
}

export interface PipelineEnvironment {
  readonly clock: Clock;
  readonly log: Log;
}

/** Upstream's answer after a panic. */
export const PANIC_TEXT = 'This request caused apiserver to panic. Look in the logs for details.';

/** A client that has gone ends the work for it: a log that it followed breaks off, which is no defect. */
const verdictOf = (error: unknown, { request }: RequestContext): StageVerdict => {
  if (isStatusError(error)) return 'refused';
  return hasReason(error, 'ClientGone') || request.signal.aborted ? 'answered' : 'failed';
};

/**
 * Takes a request through the stages in order until one answers. Never rejects: a refusal is answered as its
 * Status, a defect as 500 and logged, and an answer that had begun is cut off so that no one takes it for whole.
 */
export const runPipeline = async (
  stages: readonly Stage[],
  context: RequestContext,
  { clock, log }: PipelineEnvironment,
): Promise<void> => {
  for (const stage of stages) {
    const startMs = clock.monotonicMs();
    const partsFrom = context.stages.length;
    const record = (verdict: StageVerdict, reason?: string): void => {
      // Parts that it has told of itself are not counted twice: the durations of a trace add up to the request's.
      let durationMs = clock.monotonicMs() - startMs;
      for (let at = partsFrom; at < context.stages.length; at += 1)
        durationMs -= context.stages[at]!.durationMs;
      context.stages.push({
        stage: stage.name,
        durationMs: Math.max(0, durationMs),
        verdict,
        ...(reason && { reason }),
      });
    };
    try {
      const running = stage.run(context);
      // Most stages decide at the same time: a request does not wait for a turn of the queue at each of them.
      const result = typeof running === 'string' ? running : await running;
      record(result === 'next' ? 'passed' : 'answered');
      if (result === 'done') return;
    } catch (error) {
      const verdict = verdictOf(error, context);
      record(verdict, isStatusError(error) ? error.reason : undefined);
      if (verdict === 'failed')
        log.write('error', 'a request caused a defect', {
          stage: stage.name,
          auditId: context.auditId,
          path: context.info.path,
          error: error instanceof Error ? (error.stack ?? error.message) : messageOf(error),
        });
      await answerFailure(context, error, log);
      return;
    }
  }
  await answerFailure(context, new Error('no stage answered the request'), log);
};

/** The last resort: whatever was thrown becomes an answer, or ends the one that had begun. */
export const answerFailure = async (context: RequestContext, error: unknown, log: Log): Promise<void> => {
  const { response } = context;
  if (response.ended) return;
  if (response.started || hasReason(error, 'ClientGone')) {
    response.abort();
    return;
  }
  const status = isStatusError(error)
    ? error
    : new StatusError('InternalError', PANIC_TEXT, { code: 500, cause: error });
  context.failure = status;
  try {
    context.warnings.writeTo(response);
    await sendStatusError(response, status);
  } catch (failure) {
    if (!hasReason(failure, 'ClientGone'))
      log.write('error', 'an answer could not be sent', { auditId: context.auditId, error: failure });
    response.abort();
  }
};
