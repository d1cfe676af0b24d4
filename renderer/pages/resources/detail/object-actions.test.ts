import { expect, test } from 'vitest';
import type { KubeResource } from '../../../../core/contract/index.ts';
import { refusalText } from '../../../locales/refusal-text.ts';
import { actionOf, actionsFor, bulkActionsFor, readLabel, type ChangeAction } from './object-actions.ts';

test.each([
  ['tier=web', { key: 'tier', value: 'web' }],
  ['app.kubernetes.io/name=a.b-c_d', { key: 'app.kubernetes.io/name', value: 'a.b-c_d' }],
  ['tier=', { key: 'tier', value: '' }],
  ['tier-', { key: 'tier', value: null }],
  [' tier=web ', { key: 'tier', value: 'web' }],
])('%j is read as a label', (text, label) => {
  expect(readLabel(text)).toEqual(label);
});

test.each(['', 'tier', '=web', 'tier=a b', 'tier=-a', 'a/b/c=d', 'tier==web'])('%j is no label', (text) => {
  expect(readLabel(text)).toBe(undefined);
});

const resource = (kind: string, subresources: readonly string[] = [], group = 'apps'): KubeResource => ({
  group,
  version: 'v1',
  plural: `${kind.toLowerCase()}s`,
  kind,
  namespaced: true,
  singular: kind.toLowerCase(),
  shortNames: [],
  categories: [],
  verbs: ['patch', 'delete'],
  subresources: [...subresources],
  isPreferred: true,
});
const deployment = resource('Deployment', ['scale', 'status']);
const pod = resource('Pod', ['eviction', 'log'], '');

test('actions are offered by what the server supports, and by the state of the object', () => {
  const at = (of: KubeResource, object?: Record<string, unknown>) =>
    actionsFor({ resource: of, namespace: 'default', name: 'x' }, object);
  expect([
    at(deployment),
    at(pod),
    at(resource('Pod', [], '')),
    at(resource('Node', [], ''), { spec: { unschedulable: true } }),
    at(resource('CronJob'), { spec: { suspend: false } }),
    bulkActionsFor(pod),
    bulkActionsFor(deployment),
  ]).toEqual([
    ['scale', 'restart', 'delete'],
    ['evict', 'delete'],
    ['delete'],
    ['uncordon', 'delete'],
    ['suspend', 'delete'],
    ['evict', 'label'],
    ['scale', 'restart', 'label'],
  ]);
});

test('every action that says how it is taken back takes back what it does', () => {
  const context = {
    target: { resource: deployment, namespace: 'default', name: 'web' },
    object: { spec: { replicas: 3 } },
    podCount: 3,
    replicas: 5,
    at: new Date(0),
  };
  const bodies = (id: ChangeAction) => {
    const { change, undo } = actionOf(id);
    return [change(context).body, undo?.(context).body];
  };
  expect([bodies('scale'), bodies('suspend'), bodies('cordon'), bodies('evict')[1]]).toEqual([
    [{ spec: { replicas: 5 } }, { spec: { replicas: 3 } }],
    [{ spec: { suspend: true } }, { spec: { suspend: false } }],
    [{ spec: { unschedulable: true } }, { spec: { unschedulable: null } }],
    undefined,
  ]);
});

test('a refusal of a disruption budget names the budget', () => {
  const refusal = {
    code: 429,
    reason: 'TooManyRequests',
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    causes: [
      {
        field: '',
        reason: 'DisruptionBudget',
        message: 'The disruption budget web needs 2 healthy pods and has 2 currently.',
      },
    ],
  };
  expect([refusalText(refusal), refusalText({ ...refusal, causes: [] })]).toEqual([
    'A PodDisruptionBudget does not allow it now: The disruption budget web needs 2 healthy pods and has 2 currently. Wait until more pods are healthy, add replicas, or change the budget.',
    refusal.message,
  ]);
});
