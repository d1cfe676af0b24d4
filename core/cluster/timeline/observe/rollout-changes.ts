import { say, verbatim } from '../../../contract/index.ts';
import type { Observation } from '../draft.ts';

/** What of a workload is kept between two states. */
export interface WorkloadView {
  /** `Deployment`. */
  readonly kind: string;
  /** `deployments`, as the console's pages name it. */
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  /** Changes when the pod template does. */
  readonly template: string;
  readonly images: readonly string[];
  readonly wanted: number;
  /** Everything that is wanted runs, in the present version. */
  readonly isComplete: boolean;
  /** Why it does not get on; empty while it does. */
  readonly stuck: string;
  /** The client that changed it last, as managedFields name it. */
  readonly changedBy: string;
}

const spanOf = ({ kind, namespace, name }: WorkloadView): string => `rollout/${kind}/${namespace}/${name}`;

const whatChanged = (before: WorkloadView | undefined, now: WorkloadView): string => {
  const by = now.changedBy === '' ? '' : ` (${now.changedBy})`;
  if (before && before.template === now.template) return `${before.wanted} → ${now.wanted} replicas${by}`;
  return `${now.images.join(', ')}${by}`;
};

/** `before` is undefined for one that was created just now. */
export const rolloutChanges = (
  before: WorkloadView | undefined,
  now: WorkloadView,
): readonly Observation[] => {
  const { kind, plural, namespace, name, isComplete, stuck } = now;
  const span = spanOf(now);
  const seen: Observation[] = [];
  const hasBegun = !before || before.template !== now.template || before.wanted !== now.wanted;
  if (hasBegun)
    seen.push({
      lane: 'workloads',
      kind: 'rollout',
      severity: 'info',
      about: [`${namespace}/${name}`],
      text: say('timeline.rollout', {
        kind,
        name: `${namespace}/${name}`,
        what: verbatim(whatChanged(before, now)),
      }),
      source: `/workloads?kind=${plural}&open=${encodeURIComponent(`${namespace}/${name}`)}`,
      span,
    });
  if (stuck !== '' && before?.stuck !== stuck) seen.push({ end: span, severity: 'error' });
  else if (isComplete && (hasBegun || before?.isComplete === false)) seen.push({ end: span, severity: 'ok' });
  return seen;
};

export const rolloutOver = (view: WorkloadView): Observation => ({ end: spanOf(view), severity: 'warn' });
