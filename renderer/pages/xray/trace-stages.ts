import type { RequestTrace } from '../../../core/contract/index.ts';

export type Stage = RequestTrace['stages'][number];

/** A stage with its place on the line of the request. */
export interface PlacedStage extends Stage {
  readonly startMs: number;
  /** Percent of the whole. */
  readonly left: number;
  readonly width: number;
}

/** Thinner than this a bar is not seen. */
const WIDTH_PERCENT_MIN = 0.4;

/** Stages follow each other; what none of them took is at the end, as the time in between. */
export const placeStages = (
  trace: Pick<RequestTrace, 'durationMs' | 'stages'>,
): { readonly stages: readonly PlacedStage[]; readonly restMs: number } => {
  const spent = trace.stages.reduce((sum, { durationMs }) => sum + durationMs, 0);
  const wholeMs = Math.max(trace.durationMs, spent, Number.MIN_VALUE);
  let startMs = 0;
  const stages = trace.stages.map((stage) => {
    const left = (100 * startMs) / wholeMs;
    const placed = {
      ...stage,
      startMs,
      left: Math.min(left, 100 - WIDTH_PERCENT_MIN),
      width: Math.max(WIDTH_PERCENT_MIN, (100 * stage.durationMs) / wholeMs),
    };
    startMs += stage.durationMs;
    return placed;
  });
  return { stages, restMs: Math.max(0, trace.durationMs - spent) };
};

/** The stage that ended the request before its time, if one did. */
export const culprit = ({ stages }: Pick<RequestTrace, 'stages'>): Stage | undefined =>
  stages.find(({ verdict }) => verdict === 'refused' || verdict === 'failed');

export const toneOfCode = (code: number): 'ok' | 'warn' | 'error' | 'idle' => {
  if (code >= 500) return 'error';
  if (code >= 400) return 'warn';
  return code === 0 ? 'idle' : 'ok';
};

export const isProblem = (trace: RequestTrace): boolean => trace.code >= 400 || culprit(trace) !== undefined;

/** What components say to stay known, and what the console itself asks to show this list. */
const HEARTBEAT = /^\/(?:readyz|livez|healthz|metrics|debug\/traces)(?:[/?]|$)/;
export const isHeartbeat = ({ path, verb, code, user }: RequestTrace): boolean =>
  code < 400 &&
  (HEARTBEAT.test(path) ||
    // Components ask who may read their metrics.
    (path.endsWith('/subjectaccessreviews') && user.startsWith('system:')) ||
    (path.includes('/leases/') && (verb === 'update' || verb === 'get')));

export type TraceOrder = 'newest' | 'slowest';

/** Those that are wanted, in the order that is wanted. A watch lasts as long as its client likes: never slow. */
export const arrange = (
  traces: readonly RequestTrace[],
  {
    onlyProblems,
    withHeartbeats,
    order,
  }: { readonly onlyProblems: boolean; readonly withHeartbeats: boolean; readonly order: TraceOrder },
): RequestTrace[] => {
  const wanted = traces.filter(
    (trace) => (!onlyProblems || isProblem(trace)) && (withHeartbeats || !isHeartbeat(trace)),
  );
  if (order === 'newest') return wanted.sort((a, b) => b.startedAtMs - a.startedAtMs);
  const cost = (trace: RequestTrace): number => (trace.verb === 'watch' ? 0 : trace.durationMs);
  return wanted.sort((a, b) => cost(b) - cost(a) || b.startedAtMs - a.startedAtMs);
};

/** `system:serviceaccount:kube-system:job-controller` is known by its last part. */
export const shortUser = (user: string): string =>
  user.startsWith('system:serviceaccount:') ? user.split(':').slice(2).join('/') : user;
