import { SCORE_MAX } from '../../framework/plugin.ts';

export interface ResourceSpec {
  readonly name: string;
  readonly weight: number;
}

export interface ShapePoint {
  /** Percent. */
  readonly utilization: number;
  /** 0 to 10. */
  readonly score: number;
}

export interface ScoringStrategy {
  readonly type: 'LeastAllocated' | 'MostAllocated' | 'RequestedToCapacityRatio';
  readonly resources?: readonly ResourceSpec[];
  readonly requestedToCapacityRatio?: { readonly shape?: readonly ShapePoint[] };
}

export const DEFAULT_RESOURCES: readonly ResourceSpec[] = [
  { name: 'cpu', weight: 1 },
  { name: 'memory', weight: 1 },
];

/** The score of one resource on one node. Integer arithmetic, as upstream's. */
export type ResourceScore = (requested: number, capacity: number) => number;

const CUSTOM_SCORE_MAX = 10;
const UTILIZATION_MAX = 100;

/**
 * `100 * part / whole` rounded down. The product of a few petabytes and 100 leaves the integers that a double
 * holds, so large ones are divided first and corrected by the remainder.
 */
const percent = (part: number, whole: number): number => {
  const product = part * SCORE_MAX;
  return product <= Number.MAX_SAFE_INTEGER
    ? Math.floor(product / whole)
    : Number((BigInt(part) * BigInt(SCORE_MAX)) / BigInt(whole));
};

const least: ResourceScore = (requested, capacity) =>
  requested > capacity ? 0 : percent(capacity - requested, capacity);

const most: ResourceScore = (requested, capacity) => percent(Math.min(requested, capacity), capacity);

/** Linear between the points, level before the first and after the last. */
const brokenLinear = (shape: readonly ShapePoint[]): ((utilization: number) => number) => {
  const points = shape.map(({ utilization, score }) => ({
    utilization,
    score: score * (SCORE_MAX / CUSTOM_SCORE_MAX),
  }));
  return (utilization) => {
    for (const [at, point] of points.entries()) {
      if (utilization > point.utilization) continue;
      const before = points[at - 1];
      if (!before) return point.score;
      return (
        before.score +
        Math.trunc(
          ((point.score - before.score) * (utilization - before.utilization)) /
            (point.utilization - before.utilization),
        )
      );
    }
    return points.at(-1)?.score ?? 0;
  };
};

export interface Scorer {
  readonly resources: readonly ResourceSpec[];
  readonly score: ResourceScore;
  /** Only a positive score counts towards the mean, which is then rounded to the nearest. */
  readonly ignoresZero: boolean;
}

export const scorerOf = (strategy: ScoringStrategy): Scorer => {
  const resources = strategy.resources?.length ? strategy.resources : DEFAULT_RESOURCES;
  switch (strategy.type) {
    case 'LeastAllocated':
      return { resources, score: least, ignoresZero: false };
    case 'MostAllocated':
      return { resources, score: most, ignoresZero: false };
    case 'RequestedToCapacityRatio': {
      const shaped = brokenLinear(strategy.requestedToCapacityRatio?.shape ?? []);
      return {
        resources,
        score: (requested, capacity) =>
          shaped(requested > capacity ? UTILIZATION_MAX : percent(requested, capacity)),
        ignoresZero: true,
      };
    }
  }
};
