import { expect, test } from 'vitest';
import { CLUSTER_ROLE } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { clusterRoleAggregationController } from './clusterrole-aggregation-controller.ts';

const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
const part = (name: string, ...resources: string[]) => ({
  metadata: { name, labels: { to: 'view' } },
  rules: resources.map(rule),
});
const resources = (api: FakeApi, name: string) =>
  api.get(CLUSTER_ROLE, name).rules?.flatMap((one) => one.resources);

test('a role has the rules of those it selects, each once, and follows them', async () => {
  const api = new FakeApi();
  api.seed(
    CLUSTER_ROLE,
    {
      metadata: { name: 'view' },
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { to: 'view' } }] },
      rules: [rule('stale')],
    },
    part('b', 'services', 'pods'),
    part('a', 'pods'),
    { metadata: { name: 'other' }, rules: [rule('secrets')] },
  );
  const running = await startOnFake(api, clusterRoleAggregationController);
  expect(resources(api, 'view')).toEqual(['pods', 'services']);
  api.forgetRequests();
  api.remove(CLUSTER_ROLE, 'b');
  await api.settle();
  expect([resources(api, 'view'), api.writes().length]).toEqual([['pods'], 1]);
  expect(resources(api, 'other')).toEqual(['secrets']);
  await running.stop();
});
