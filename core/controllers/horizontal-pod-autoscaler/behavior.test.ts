import { expect, test } from 'vitest';
import {
  afterScaling,
  emptyHistory,
  normalize,
  normalizeWithBehavior,
  type History,
  type NormalizeInput,
} from './behavior.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;
const input = (currentReplicas: number, desiredReplicas: number, rest: Partial<NormalizeInput> = {}) => ({
  currentReplicas,
  desiredReplicas,
  minReplicas: 1,
  maxReplicas: 100,
  history: { recommendations: [], scaledUp: [], scaledDown: [] },
  nowMs: NOW,
  downscaleWindowMs: 5 * MINUTE,
  ...rest,
});
const summary = ({ replicas, conditions }: ReturnType<typeof normalize>) => [
  replicas,
  ...conditions.map(({ reason }) => reason),
];

test.each([
  ['within the range', input(5, 7), [7, 'ReadyForNewScale', 'DesiredWithinRange']],
  ['more than twice', input(5, 30), [10, 'ReadyForNewScale', 'ScaleUpLimit']],
  ['from one it may go to four', input(1, 30), [4, 'ReadyForNewScale', 'ScaleUpLimit']],
  ['above the maximum', input(5, 30, { maxReplicas: 8 }), [8, 'ReadyForNewScale', 'TooManyReplicas']],
  ['below the minimum', input(5, 0, { minReplicas: 2 }), [2, 'ReadyForNewScale', 'TooFewReplicas']],
] as const)('without behavior: %s', (_what, given, expected) => {
  expect(summary(normalize(given))).toEqual(expected);
});

test('without behavior the highest recommendation of five minutes holds', () => {
  const recommendations = [
    { replicas: 9, atMs: NOW - 6 * MINUTE },
    { replicas: 6, atMs: NOW - 4 * MINUTE },
  ];
  const result = normalize(input(6, 2, { history: { recommendations, scaledUp: [], scaledDown: [] } }));
  expect([summary(result), result.history.recommendations]).toEqual([
    [6, 'ScaleDownStabilized', 'DesiredWithinRange'],
    [
      { replicas: 6, atMs: NOW - 4 * MINUTE },
      { replicas: 2, atMs: NOW },
    ],
  ]);
});

const policies = (...list: readonly (readonly ['Pods' | 'Percent', number, number])[]) =>
  list.map(([type, value, periodSeconds]) => ({ type, value, periodSeconds }));
const UP = {
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: policies(['Pods', 4, 60], ['Percent', 100, 60]),
};
const DOWN = { stabilizationWindowSeconds: 0, selectPolicy: 'Max', policies: policies(['Percent', 100, 15]) };

test.each([
  [
    'the larger policy counts',
    input(10, 50),
    { scaleUp: UP, scaleDown: DOWN },
    [20, 'ReadyForNewScale', 'ScaleUpLimit'],
  ],
  [
    'the smaller policy counts with Min',
    input(10, 50),
    { scaleUp: { ...UP, selectPolicy: 'Min' }, scaleDown: DOWN },
    [14, 'ReadyForNewScale', 'ScaleUpLimit'],
  ],
  [
    'Disabled never scales',
    input(10, 50),
    { scaleUp: { ...UP, selectPolicy: 'Disabled' }, scaleDown: DOWN },
    [10, 'ReadyForNewScale', 'ScaleUpLimit'],
  ],
  [
    'a share of pods is rounded in favour of scaling up',
    input(3, 50),
    { scaleUp: { ...UP, policies: policies(['Percent', 10, 60]) }, scaleDown: DOWN },
    [4, 'ReadyForNewScale', 'ScaleUpLimit'],
  ],
  [
    'pods that were added in the period count',
    input(14, 50, {
      history: { recommendations: [], scaledUp: [{ change: 4, atMs: NOW - 30_000 }], scaledDown: [] },
    }),
    { scaleUp: { ...UP, policies: policies(['Pods', 4, 60]) }, scaleDown: DOWN },
    [14, 'ReadyForNewScale', 'ScaleUpLimit'],
  ],
  [
    'scaling down is limited, too',
    input(10, 1),
    { scaleUp: UP, scaleDown: { ...DOWN, policies: policies(['Pods', 2, 60]) } },
    [8, 'ReadyForNewScale', 'ScaleDownLimit'],
  ],
  [
    'below the minimum',
    input(10, 1, { minReplicas: 3 }),
    { scaleUp: UP, scaleDown: DOWN },
    [3, 'ReadyForNewScale', 'TooFewReplicas'],
  ],
] as const)('with behavior: %s', (_what, given, behavior, expected) => {
  expect(summary(normalizeWithBehavior(given, behavior as never))).toEqual(expected);
});

test('each direction has a window of its own', () => {
  const history: History = {
    recommendations: [
      { replicas: 4, atMs: NOW - 30_000 },
      { replicas: 8, atMs: NOW - 90_000 },
    ],
    scaledUp: [],
    scaledDown: [],
  };
  const up = { ...UP, stabilizationWindowSeconds: 60 };
  const down = { ...DOWN, stabilizationWindowSeconds: 120 };
  expect([
    summary(normalizeWithBehavior(input(5, 9, { history }), { scaleUp: up, scaleDown: down })),
    summary(normalizeWithBehavior(input(9, 2, { history }), { scaleUp: up, scaleDown: down })),
  ]).toEqual([
    [5, 'ScaleUpStabilized', 'DesiredWithinRange'],
    [8, 'ScaleDownStabilized', 'DesiredWithinRange'],
  ]);
});

test('a window that is not set is that of the flag', () => {
  const history: History = { ...emptyHistory(7, NOW - 4 * MINUTE), scaledUp: [] };
  const { stabilizationWindowSeconds: _seconds, ...down } = DOWN;
  expect(normalizeWithBehavior(input(7, 1, { history }), { scaleUp: UP, scaleDown: down }).replicas).toBe(7);
});

test('scalings are remembered for the longest period of the policies of their direction', () => {
  const history: History = {
    recommendations: [],
    scaledUp: [{ change: 1, atMs: NOW - 2 * MINUTE }],
    scaledDown: [],
  };
  expect([
    afterScaling(history, { scaleUp: UP, scaleDown: DOWN }, { from: 2, to: 6, nowMs: NOW }),
    afterScaling(history, undefined, { from: 2, to: 6, nowMs: NOW }),
  ]).toEqual([{ ...history, scaledUp: [{ change: 4, atMs: NOW }] }, history]);
});
