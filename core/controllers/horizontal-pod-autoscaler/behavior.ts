import type { HorizontalPodAutoscaler } from '../../client/index.ts';

type Spec = NonNullable<HorizontalPodAutoscaler['spec']>;
export type ScalingRules = NonNullable<NonNullable<Spec['behavior']>['scaleUp']>;

/** Without behavior a step at most doubles, or leads to this many. */
const SCALE_UP_FACTOR = 2;
const SCALE_UP_MIN = 4;
/** Of one autoscaler. A window is an hour at most and a sync period seconds: this is never reached by a sane one. */
const HISTORY_MAX = 10_000;
const SECOND_MS = 1000;

interface Timed {
  readonly atMs: number;
}
interface Recommendation extends Timed {
  readonly replicas: number;
}
interface ScaleEvent extends Timed {
  readonly change: number;
}

/** What an autoscaler recommended and did, as far back as it can matter. */
export interface History {
  readonly recommendations: readonly Recommendation[];
  readonly scaledUp: readonly ScaleEvent[];
  readonly scaledDown: readonly ScaleEvent[];
}

export const emptyHistory = (currentReplicas: number, nowMs: number): History => ({
  recommendations: [{ replicas: currentReplicas, atMs: nowMs }],
  scaledUp: [],
  scaledDown: [],
});

export interface Condition {
  readonly type: 'AbleToScale' | 'ScalingActive' | 'ScalingLimited';
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface Normalized {
  readonly replicas: number;
  readonly conditions: readonly Condition[];
  readonly history: History;
}

export interface NormalizeInput {
  readonly currentReplicas: number;
  readonly desiredReplicas: number;
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly history: History;
  readonly nowMs: number;
  /** --horizontal-pod-autoscaler-downscale-stabilization. */
  readonly downscaleWindowMs: number;
}

const able = (reason: string, message: string): Condition => ({
  type: 'AbleToScale',
  status: 'True',
  reason,
  message,
});
const READY = able('ReadyForNewScale', 'recommended size matches current size');
const DOWN_STABILIZED = able(
  'ScaleDownStabilized',
  'recent recommendations were higher than current one, applying the highest recent recommendation',
);
const UP_STABILIZED = able(
  'ScaleUpStabilized',
  'recent recommendations were lower than current one, applying the lowest recent recommendation',
);

interface Limited {
  readonly replicas: number;
  readonly reason: string;
  readonly message: string;
}

const WITHIN = ['DesiredWithinRange', 'the desired count is within the acceptable range'] as const;
const TOO_MANY = [
  'TooManyReplicas',
  'the desired replica count is more than the maximum replica count',
] as const;
const TOO_FEW = [
  'TooFewReplicas',
  'the desired replica count is less than the minimum replica count',
] as const;
const UP_LIMIT = [
  'ScaleUpLimit',
  'the desired replica count is increasing faster than the maximum scale rate',
] as const;
const DOWN_LIMIT = [
  'ScaleDownLimit',
  'the desired replica count is decreasing faster than the maximum scale rate',
] as const;

const limited = (replicas: number, [reason, message]: readonly [string, string]): Limited => ({
  replicas,
  reason,
  message,
});

const limitCondition = ({ replicas, reason, message }: Limited, stabilized: number): Condition => ({
  type: 'ScalingLimited',
  status: replicas === stabilized ? 'False' : 'True',
  reason,
  message,
});

const remembered = (history: History, replicas: number, nowMs: number, windowMs: number): History => ({
  ...history,
  recommendations: [
    ...history.recommendations.filter(({ atMs }) => atMs >= nowMs - windowMs),
    { replicas, atMs: nowMs },
  ].slice(-HISTORY_MAX),
});

/** Without `spec.behavior`: the highest recommendation of the window, and at most twice as many pods in a step. */
export const normalize = (input: NormalizeInput): Normalized => {
  const { currentReplicas, desiredReplicas, minReplicas, maxReplicas, history, nowMs } = input;
  const windowMs = input.downscaleWindowMs;
  const recent = history.recommendations.filter(({ atMs }) => atMs >= nowMs - windowMs);
  const stabilized = Math.max(desiredReplicas, ...recent.map(({ replicas }) => replicas));
  const scaleUpLimit = Math.max(SCALE_UP_FACTOR * currentReplicas, SCALE_UP_MIN);
  const [most, why] = maxReplicas > scaleUpLimit ? [scaleUpLimit, UP_LIMIT] : [maxReplicas, TOO_MANY];
  const result =
    stabilized < minReplicas
      ? limited(minReplicas, TOO_FEW)
      : stabilized > most
        ? limited(most, why)
        : limited(stabilized, WITHIN);
  return {
    replicas: result.replicas,
    conditions: [
      stabilized === desiredReplicas ? READY : DOWN_STABILIZED,
      limitCondition(result, stabilized),
    ],
    history: remembered(history, desiredReplicas, nowMs, windowMs),
  };
};

const changeWithin = (events: readonly ScaleEvent[], periodSeconds: number, nowMs: number): number =>
  events
    .filter(({ atMs }) => atMs > nowMs - periodSeconds * SECOND_MS)
    .reduce((total, { change }) => total + change, 0);

/** The number of pods that policies allow to scale to, in one direction. */
export const policyLimit = (
  rules: ScalingRules,
  direction: 'up' | 'down',
  { currentReplicas, history, nowMs }: Pick<NormalizeInput, 'currentReplicas' | 'history' | 'nowMs'>,
): number => {
  if (rules.selectPolicy === 'Disabled') return currentReplicas;
  const proposals = (rules.policies ?? []).map(({ type, value, periodSeconds }) => {
    const start =
      currentReplicas -
      changeWithin(history.scaledUp, periodSeconds, nowMs) +
      changeWithin(history.scaledDown, periodSeconds, nowMs);
    if (type === 'Pods') return direction === 'up' ? start + value : start - value;
    return direction === 'up' ? Math.ceil(start * (1 + value / 100)) : Math.trunc(start * (1 - value / 100));
  });
  const isSmallest = rules.selectPolicy === 'Min';
  return isSmallest === (direction === 'up') ? Math.min(...proposals) : Math.max(...proposals);
};

const limitRate = (
  input: NormalizeInput,
  stabilized: number,
  up: ScalingRules,
  down: ScalingRules,
): Limited => {
  const { currentReplicas, minReplicas, maxReplicas } = input;
  if (stabilized > currentReplicas) {
    const limit = Math.max(currentReplicas, policyLimit(up, 'up', input));
    const [most, why] = maxReplicas > limit ? [limit, UP_LIMIT] : [maxReplicas, TOO_MANY];
    if (stabilized > most) return limited(most, why);
  } else if (stabilized < currentReplicas) {
    const limit = Math.min(currentReplicas, policyLimit(down, 'down', input));
    const [least, why] = minReplicas < limit ? [limit, DOWN_LIMIT] : [minReplicas, TOO_FEW];
    if (stabilized < least) return limited(least, why);
  }
  return limited(stabilized, WITHIN);
};

/** With `spec.behavior`: a window for each direction, then what its policies allow. */
export const normalizeWithBehavior = (
  input: NormalizeInput,
  { scaleUp = {}, scaleDown = {} }: NonNullable<Spec['behavior']>,
): Normalized => {
  const { currentReplicas, desiredReplicas, history, nowMs, downscaleWindowMs } = input;
  const upMs = (scaleUp.stabilizationWindowSeconds ?? 0) * SECOND_MS;
  const downMs =
    scaleDown.stabilizationWindowSeconds === undefined
      ? downscaleWindowMs
      : scaleDown.stabilizationWindowSeconds * SECOND_MS;
  const within = (windowMs: number): number[] =>
    history.recommendations.filter(({ atMs }) => atMs > nowMs - windowMs).map(({ replicas }) => replicas);
  const lowest = Math.min(desiredReplicas, ...within(upMs));
  const highest = Math.max(desiredReplicas, ...within(downMs));
  const stabilized = Math.min(Math.max(currentReplicas, lowest), highest);
  const result = limitRate(input, stabilized, scaleUp, scaleDown);
  const changed = desiredReplicas >= currentReplicas ? UP_STABILIZED : DOWN_STABILIZED;
  return {
    replicas: result.replicas,
    conditions: [stabilized === desiredReplicas ? READY : changed, limitCondition(result, stabilized)],
    history: remembered(history, desiredReplicas, nowMs, Math.max(upMs, downMs)),
  };
};

const longestPeriodMs = ({ policies = [] }: ScalingRules): number =>
  Math.max(0, ...policies.map(({ periodSeconds }) => periodSeconds)) * SECOND_MS;

/** The history after a scaling, which policies count. */
export const afterScaling = (
  history: History,
  behavior: Spec['behavior'],
  { from, to, nowMs }: { readonly from: number; readonly to: number; readonly nowMs: number },
): History => {
  if (!behavior) return history;
  const isUp = to > from;
  const periodMs = longestPeriodMs((isUp ? behavior.scaleUp : behavior.scaleDown) ?? {});
  const events = isUp ? history.scaledUp : history.scaledDown;
  const kept = [
    ...events.filter(({ atMs }) => atMs >= nowMs - periodMs),
    { change: Math.abs(to - from), atMs: nowMs },
  ].slice(-HISTORY_MAX);
  return { ...history, ...(isUp ? { scaledUp: kept } : { scaledDown: kept }) };
};
