import { randomUUID } from 'node:crypto';
import type { Clock } from '../../base/clock.ts';
import type { Log } from '../../base/log.ts';
import { messageOf } from '../../base/errors.ts';
import { timeout } from '../../api/meta/index.ts';
import { goQuote } from '../../api/field/go-text.ts';
import { RequestContext } from './context.ts';
import type { Exchange } from './exchange.ts';
import { answerFailure, runPipeline, type Stage } from './pipeline.ts';
import type { RequestMetrics } from './request-metrics.ts';
import { isRequestInfoError, parseRequestInfo } from './request-info.ts';
import { sendTextError } from './response.ts';
import type { TraceRing } from './trace.ts';

const AUDIT_ID_LENGTH_MAX = 64;
/** How long the news that its time is over may take to reach a client; no longer than the request itself. */
const LATE_ANSWER_MS_MAX = 5000;
const TIMEOUT_TEXT = 'request did not complete within the allotted timeout';

export interface RequestService {
  readonly stages: readonly Stage[];
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: RequestMetrics;
  readonly traces: TraceRing;
  readonly requestTimeoutMs: number;
}

/** A client may name its request, so that its traces and ours agree. */
const auditIdOf = (sent: string | undefined): string =>
  sent !== undefined && sent !== '' && sent.length <= AUDIT_ID_LENGTH_MAX ? sent : randomUUID();

/** Serves one request from its head to the end of its answer. Never rejects. */
export const serveRequest = async (service: RequestService, exchange: Exchange): Promise<void> => {
  const { request, response } = exchange;
  const { clock, log } = service;
  const auditId = auditIdOf(request.headers.get('audit-id'));
  response.setHeader('audit-id', auditId);
  response.setHeader('cache-control', 'no-cache, private');
  try {
    if (!exchange.isPathValid) {
      await sendTextError(response, 400, '400 Bad Request');
      return;
    }
    const info = parseRequestInfo(request);
    const context = new RequestContext({ request, response, info, auditId, startedAtMs: clock.nowMs() });
    await serveContext(service, context, exchange);
  } catch (error) {
    if (!isRequestInfoError(error)) {
      log.write('error', 'a request failed outside of its stages', { auditId, error });
      response.abort();
      return;
    }
    const text = `Internal Server Error: ${goQuote(request.url)}: failed to create RequestInfo: ${messageOf(error)}`;
    await sendTextError(response, 500, text).catch(() => response.abort());
  }
};

const serveContext = async (
  service: RequestService,
  context: RequestContext,
  exchange: Exchange,
): Promise<void> => {
  const { clock, log, metrics, traces, stages } = service;
  const startMs = clock.monotonicMs();
  metrics.started(context);
  let answeredLate: Promise<void> | undefined;
  if (!context.isLongRunning) {
    let timer = clock.after(service.requestTimeoutMs, () => {
      // Made in time, and not taken: a client that gives no window must not keep it.
      if (context.response.ended) context.response.abort();
      else answeredLate = answerFailure(context, timeout(TIMEOUT_TEXT, 0), log);
      exchange.abort(new Error(TIMEOUT_TEXT));
      timer = clock.after(Math.min(LATE_ANSWER_MS_MAX, service.requestTimeoutMs), () =>
        context.response.abort(),
      );
    });
    context.defer(() => timer.dispose());
  }
  try {
    await runPipeline(stages, context, { clock, log });
    await answeredLate;
  } finally {
    context.finish();
    const durationMs = clock.monotonicMs() - startMs;
    metrics.finished(context, durationMs);
    if (context.stages.some(({ verdict }) => verdict === 'failed')) metrics.panics.inc();
    traces.add({
      auditId: context.auditId,
      startedAtMs: context.startedAtMs,
      durationMs,
      protocol: context.request.protocol,
      method: context.request.method,
      path: context.info.path,
      verb: context.info.verb,
      user: context.user?.name ?? '',
      code: context.response.code,
      stages: context.stages,
      ...(context.admission.length > 0 && { admission: context.admission }),
    });
  }
};
