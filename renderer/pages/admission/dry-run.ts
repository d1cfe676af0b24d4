import type { ApplyResult, RequestTrace } from '../../../core/contract/index.ts';
import { textAt, type KubeObject } from '../../kinds/kube-object.ts';

export const SAMPLE_OBJECT = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: default
spec:
  replicas: 3
  selector:
    matchLabels: {app: web}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: app
        image: nginx:1.29
`;

export type AdmissionRecord = NonNullable<RequestTrace['admission']>[number];

/** What would happen to an object, and who would see to it. */
export interface DryRunOutcome {
  readonly verdict: 'created' | 'configured' | 'unchanged' | 'refused';
  readonly message: string;
  readonly records: readonly AdmissionRecord[];
  /** False where this API server keeps no traces: then webhooks and policies cannot be named. */
  readonly isTraced: boolean;
  readonly result: KubeObject | undefined;
}

export const outcomeOf = (applied: ApplyResult, trace: RequestTrace | undefined): DryRunOutcome => {
  const { outcome, refusal, conflicts, result } = applied;
  const isRefused = outcome === 'refused' || outcome === 'conflict';
  return {
    verdict: isRefused ? 'refused' : outcome,
    message: refusal?.message ?? conflicts[0]?.message ?? '',
    records: trace?.admission ?? [],
    isTraced: trace !== undefined,
    result: result ?? undefined,
  };
};

/** The trace of the dry run: the newest PATCH of that object which was not there before. */
export const traceOf = (
  traces: readonly RequestTrace[],
  known: ReadonlySet<string>,
  path: string,
): RequestTrace | undefined =>
  traces.find((trace) => trace.method === 'PATCH' && trace.path === path && !known.has(trace.auditId));

/** `apps/v1 Deployment default/web`. */
export const titleOf = (object: KubeObject): string =>
  [
    textAt(object, 'apiVersion'),
    textAt(object, 'kind'),
    [textAt(object, 'metadata', 'namespace'), textAt(object, 'metadata', 'name')].filter(Boolean).join('/'),
  ].join(' ');
