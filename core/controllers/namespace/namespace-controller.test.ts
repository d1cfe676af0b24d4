import { expect, test } from 'vitest';
import { internalError } from '../../api/meta/index.ts';
import { CONFIG_MAP, NAMESPACE, POD, SECRET } from '../../client/index.ts';
import { FakeApi } from '../../client/testing/index.ts';
import { startOnFake } from '../runtime/fake-manager.ts';
import { namespaceController } from './namespace-controller.ts';

const fixture = () => {
  const api = new FakeApi();
  api.seed(NAMESPACE, {
    metadata: { name: 'a' },
    spec: { finalizers: ['kubernetes'] },
    status: { phase: 'Active' },
  });
  api.seed(
    CONFIG_MAP,
    { metadata: { name: 'map', namespace: 'a' } },
    { metadata: { name: 'map', namespace: 'b' } },
  );
  return api;
};
const conditions = (api: FakeApi) =>
  Object.fromEntries(
    (api.find(NAMESPACE, 'a')?.status?.conditions ?? []).map((one) => [
      one.type,
      [one.status, one.reason, one.message],
    ]),
  );

test('content goes, then the namespace; five seconds after it was asked for', async () => {
  const api = fixture();
  const widget = { group: 'example.com', version: 'v1', kind: 'Widget', plural: 'widgets', namespaced: true };
  api.define(widget);
  api.seed(widget, { metadata: { name: 'w', namespace: 'a' } });
  const running = await startOnFake(api, namespaceController);
  await api.client().resource(NAMESPACE).delete('a');
  await api.advance(4_000);
  expect(api.find(CONFIG_MAP, 'map', 'a')).toBeDefined();
  await api.advance(1_000);
  expect([api.find(NAMESPACE, 'a'), api.list(widget), api.list(CONFIG_MAP).length]).toEqual([
    undefined,
    [],
    1,
  ]);
  await running.stop();
});

test('pods hold everything else, and the conditions say so', async () => {
  const api = fixture();
  api.seed(POD, {
    metadata: { name: 'p', namespace: 'a' },
    spec: { nodeName: 'n', containers: [], terminationGracePeriodSeconds: 30 },
    status: { phase: 'Running' },
  });
  const running = await startOnFake(api, namespaceController);
  await api.client().resource(NAMESPACE).delete('a');
  await api.advance(5_000);
  expect(api.find(CONFIG_MAP, 'map', 'a')).toBeDefined();
  expect(conditions(api)).toEqual({
    NamespaceDeletionDiscoveryFailure: [
      'False',
      'ResourcesDiscovered',
      'All resources successfully discovered',
    ],
    NamespaceDeletionGroupVersionParsingFailure: [
      'False',
      'ParsedGroupVersions',
      'All legacy kube types successfully parsed',
    ],
    NamespaceDeletionContentFailure: [
      'False',
      'ContentDeleted',
      'All content successfully deleted, may be waiting on finalization',
    ],
    NamespaceContentRemaining: [
      'True',
      'SomeResourcesRemain',
      'Some resources are remaining: pods. has 1 resource instances',
    ],
    NamespaceFinalizersRemaining: [
      'False',
      'ContentHasNoFinalizers',
      'All content-preserving finalizers finished',
    ],
  });
  api.remove(POD, 'p', 'a');
  await api.advance(16_000);
  expect(api.find(NAMESPACE, 'a')).toBeUndefined();
  await running.stop();
});

test('a finalizer of something in it is named, and a failure keeps the namespace', async () => {
  const api = fixture();
  api.seed(SECRET, { metadata: { name: 's', namespace: 'a', finalizers: ['example.com/hold'] } });
  const running = await startOnFake(api, namespaceController);
  await api.client().resource(NAMESPACE).delete('a');
  await api.advance(5_000);
  expect(conditions(api)['NamespaceFinalizersRemaining']).toEqual([
    'True',
    'SomeFinalizersRemain',
    'Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances',
  ]);
  api.remove(SECRET, 's', 'a');
  api.failNext({ verb: 'deletecollection', plural: 'secrets' }, internalError('disk'));
  await api.advance(9_000);
  expect(conditions(api)['NamespaceDeletionContentFailure']?.slice(0, 2)).toEqual([
    'True',
    'ContentDeletionFailed',
  ]);
  await api.advance(10_000, 1_000);
  expect(api.find(NAMESPACE, 'a')).toBeUndefined();
  await running.stop();
});
