import { at, conditionsOf, textAt, type KubeObject } from '../../../kinds/kube-object.ts';

/** How far a rollout is, by the questions that `kubectl rollout status` asks, in its order. */
export interface RolloutState {
  readonly phase:
    'unobserved' | 'stuck' | 'paused' | 'updating' | 'retiring' | 'starting' | 'done' | 'manual';
  readonly wanted: number;
  readonly updated: number;
  readonly available: number;
  /** Pods of an older template. */
  readonly old: number;
  /** Why it is stuck, in the words of the controller. */
  readonly message: string;
}

const count = (object: KubeObject, ...path: string[]): number => Number(textAt(object, ...path) || 0);

const phaseOf = (
  object: KubeObject,
  figures: Omit<RolloutState, 'phase' | 'message'>,
): RolloutState['phase'] => {
  if (count(object, 'metadata', 'generation') > count(object, 'status', 'observedGeneration'))
    return 'unobserved';
  const strategy =
    textAt(object, 'spec', 'updateStrategy', 'type') || textAt(object, 'spec', 'strategy', 'type');
  if (strategy === 'OnDelete') return 'manual';
  const { wanted, updated, available, old } = figures;
  if (updated >= wanted && old === 0 && available >= updated) return 'done';
  if (conditionsOf(object).some(({ reason }) => reason === 'ProgressDeadlineExceeded')) return 'stuck';
  if (at(object, 'spec', 'paused') === true) return 'paused';
  if (updated < wanted) return 'updating';
  return old > 0 ? 'retiring' : 'starting';
};

export const rolloutState = (object: KubeObject): RolloutState => {
  const kind = textAt(object, 'kind');
  const isDaemonSet = kind === 'DaemonSet';
  const replicas = textAt(object, 'spec', 'replicas');
  const wanted = isDaemonSet
    ? count(object, 'status', 'desiredNumberScheduled')
    : replicas === ''
      ? 1
      : Number(replicas);
  const partition = count(object, 'spec', 'updateStrategy', 'rollingUpdate', 'partition');
  const updated = count(object, 'status', isDaemonSet ? 'updatedNumberScheduled' : 'updatedReplicas');
  const total = count(object, 'status', isDaemonSet ? 'currentNumberScheduled' : 'replicas');
  // Below the partition pods keep the older template intentionally.
  const updates = Math.max(0, wanted - partition);
  const figures = {
    wanted: updates,
    updated,
    available: count(object, 'status', isDaemonSet ? 'numberAvailable' : 'availableReplicas'),
    old: Math.max(0, total - updated - Math.min(partition, wanted)),
  };
  const progressing = conditionsOf(object).find(({ type }) => type === 'Progressing');
  return { phase: phaseOf(object, figures), ...figures, message: progressing?.message ?? '' };
};
