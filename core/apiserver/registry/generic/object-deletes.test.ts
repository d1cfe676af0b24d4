import { expect, test } from 'vitest';
import { formatTime, type KubernetesObject } from '../../../api/meta/index.ts';
import { podStrategy } from '../strategies/pods.ts';
import { deleting } from '../testing/fixtures.ts';
import type { DeleteOptions } from '../rest-storage.ts';
import { judgeDeletion, type DeletionVerdict } from './object-deletes.ts';
import type { Strategy } from './strategy.ts';

const NOW_MS = 1_700_000_000_000;
const at = (seconds: number): string => formatTime(NOW_MS + seconds * 1_000);

const told = (verdict: DeletionVerdict): string => {
  if (verdict.action !== 'mark') return verdict.action;
  const {
    deletionTimestamp,
    deletionGracePeriodSeconds,
    finalizers = [],
    generation,
  } = verdict.draft.metadata ?? {};
  const parts = [deletionTimestamp, `grace ${deletionGracePeriodSeconds}`, `[${finalizers.join(',')}]`];
  return [...parts, `generation ${generation}`, verdict.thenDelete ? 'then delete' : 'wait'].join(' ');
};

const judge = (strategy: Strategy, object: KubernetesObject, options: Partial<DeleteOptions> = {}): string =>
  told(judgeDeletion(strategy, object, deleting(options), NOW_MS));

const pod = (
  more: KubernetesObject['metadata'] = {},
  spec: object = {},
  phase = 'Running',
): KubernetesObject => ({
  metadata: { name: 'p', generation: 1, ...more },
  spec: { nodeName: 'n', terminationGracePeriodSeconds: 30, ...spec },
  status: { phase },
});

test.each<[string, KubernetesObject, Partial<DeleteOptions>, string]>([
  ['runs its own grace period', pod(), {}, `${at(30)} grace 30 [] generation 2 wait`],
  ['runs the period asked for', pod(), { gracePeriodSeconds: 5 }, `${at(5)} grace 5 [] generation 2 wait`],
  [
    'goes at once with zero',
    pod(),
    { gracePeriodSeconds: 0 },
    `${at(0)} grace 0 [] generation 2 then delete`,
  ],
  [
    'takes a negative period for a second',
    pod(),
    { gracePeriodSeconds: -3 },
    `${at(1)} grace 1 [] generation 2 wait`,
  ],
  [
    'that is nowhere goes at once',
    pod({}, { nodeName: '' }),
    {},
    `${at(0)} grace 0 [] generation 2 then delete`,
  ],
  [
    'that has ended goes at once',
    pod({}, {}, 'Succeeded'),
    {},
    `${at(0)} grace 0 [] generation 2 then delete`,
  ],
  [
    'with a finalizer waits for it even at zero',
    pod({ finalizers: ['x/y'] }),
    { gracePeriodSeconds: 0 },
    `${at(0)} grace 0 [x/y] generation 2 wait`,
  ],
  [
    'that is going keeps its period against a longer one',
    pod({ deletionTimestamp: at(20), deletionGracePeriodSeconds: 30 }),
    { gracePeriodSeconds: 60 },
    'pending',
  ],
  [
    'that is going keeps its period when none is asked for',
    pod({ deletionTimestamp: at(20), deletionGracePeriodSeconds: 30 }),
    {},
    'pending',
  ],
  [
    'that is going takes a shorter period, counted from when it began',
    pod({ deletionTimestamp: at(20), deletionGracePeriodSeconds: 30 }),
    { gracePeriodSeconds: 15 },
    `${at(5)} grace 15 [] generation 1 wait`,
  ],
  [
    'whose shorter period is over already gets a last second',
    pod({ deletionTimestamp: at(20), deletionGracePeriodSeconds: 30 }),
    { gracePeriodSeconds: 5 },
    `${at(0)} grace 1 [] generation 1 wait`,
  ],
  [
    'that was marked with zero and not deleted is deleted',
    pod({ deletionTimestamp: at(-9), deletionGracePeriodSeconds: 0 }),
    {},
    'delete',
  ],
])('a pod %s', (_claim, object, options, expected) => {
  expect(judge(podStrategy, object, options)).toBe(expected);
});

const thing = (finalizers?: string[]): KubernetesObject => ({
  metadata: { name: 'a', generation: 4, ...(finalizers && { finalizers }) },
});
const MARKED = (finalizers: string): string => `${at(0)} grace 0 [${finalizers}] generation 5 wait`;

test.each<[string, Strategy, KubernetesObject, Partial<DeleteOptions>, string]>([
  ['goes at once', {}, thing(), {}, 'delete'],
  ['waits for a finalizer', {}, thing(['x/y']), {}, MARKED('x/y')],
  ['orphans when asked', {}, thing(), { propagationPolicy: 'Orphan' }, MARKED('orphan')],
  ['orphans when asked the old way', {}, thing(), { orphanDependents: true }, MARKED('orphan')],
  ['waits for dependents', {}, thing(), { propagationPolicy: 'Foreground' }, MARKED('foregroundDeletion')],
  [
    'in the background goes at once',
    { dependents: 'Orphan' },
    thing(),
    { propagationPolicy: 'Background' },
    'delete',
  ],
  ['orphans where its kind says so', { dependents: 'Orphan' }, thing(), {}, MARKED('orphan')],
  ['keeps the finalizer it has', {}, thing(['orphan']), {}, MARKED('orphan')],
  [
    'loses it to another wish',
    {},
    thing(['orphan']),
    { propagationPolicy: 'Foreground' },
    MARKED('foregroundDeletion'),
  ],
  [
    'loses it to the background',
    {},
    thing(['foregroundDeletion']),
    { propagationPolicy: 'Background' },
    'delete',
  ],
  [
    'of a kind without dependents ignores the wish',
    { dependents: 'Unsupported' },
    thing(),
    { propagationPolicy: 'Orphan' },
    'delete',
  ],
  [
    'beside others gets the finalizer last',
    {},
    thing(['x/y']),
    { propagationPolicy: 'Orphan' },
    MARKED('x/y,orphan'),
  ],
])('an object %s', (_claim, strategy, object, options, expected) => {
  expect(judge(strategy, object, options)).toBe(expected);
});
