import { expect, test } from 'vitest';
import { manualClock } from '../../../base/manual-clock.ts';
import { isStatusError, type KubernetesObject } from '../../../api/meta/index.ts';
import { readerOf, verdict, wish } from '../testing/fixtures.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import { namespaceExists } from './namespace-exists.ts';

const namespace = (name: string, phase = 'Active'): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name },
  status: { phase },
});
const pod = (ns: string): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: ns },
});

/** Ends the wait of the plugin once it has begun. */
const runAll = (clock: ReturnType<typeof manualClock>) => queueMicrotask(() => clock.advance(50));

test.each([
  ['a creation in an active namespace passes', wish({ object: pod('active') }), 'ok'],
  [
    'a creation in an ending namespace is refused',
    wish({ object: pod('ending') }),
    'pods "p" is forbidden: unable to create new content in namespace ending because it is being terminated',
  ],
  ['an update in an ending namespace passes', wish({ operation: 'UPDATE', object: pod('ending') }), 'ok'],
  ['a deletion in an ending namespace passes', wish({ operation: 'DELETE', oldObject: pod('ending') }), 'ok'],
  [
    'an access review tells nothing of a namespace',
    wish({ of: 'localsubjectaccessreviews.authorization.k8s.io', namespace: 'missing' }),
    'ok',
  ],
  ['a cluster-wide object passes', wish({ of: 'nodes', namespace: '' }), 'ok'],
  [
    'kube-system is not deleted',
    wish({ of: 'namespaces', operation: 'DELETE', name: 'kube-system' }),
    'namespaces "kube-system" is forbidden: this namespace may not be deleted',
  ],
  ['another namespace is deleted', wish({ of: 'namespaces', operation: 'DELETE', name: 'active' }), 'ok'],
  [
    'kube-node-lease may be deleted',
    wish({ of: 'namespaces', operation: 'DELETE', name: 'kube-node-lease' }),
    'ok',
  ],
])('%s', async (_, attributes, expected) => {
  const plugin = namespaceLifecycle(
    readerOf([namespace('active'), namespace('ending', 'Terminating')]),
    manualClock(),
  );
  expect(await verdict(plugin, attributes)).toBe(expected);
});

test('the refusal in an ending namespace carries its cause', async () => {
  const plugin = namespaceLifecycle(readerOf([namespace('ending', 'Terminating')]), manualClock());
  const error = await Promise.resolve(plugin.admit!(wish({ object: pod('ending') }))).catch(
    (e: unknown) => e,
  );
  expect(isStatusError(error) && error.status.details).toEqual({
    name: 'p',
    kind: 'pods',
    causes: [
      {
        reason: 'NamespaceTerminating',
        message: 'namespace ending is being terminated',
        field: 'metadata.namespace',
      },
    ],
  });
});

test('a namespace that the cache has not heard of is looked up live, and missing there is NotFound', async () => {
  const clock = manualClock();
  const plugin = namespaceLifecycle(readerOf([], [namespace('fresh')]), clock);
  const fresh = verdict(plugin, wish({ object: pod('fresh') }));
  const missing = verdict(plugin, wish({ object: pod('missing') }));
  await Promise.resolve();
  await Promise.resolve();
  runAll(clock);
  expect([await fresh, await missing]).toEqual(['ok', 'namespaces "missing" not found']);
});

test('after a deletion the cache is not trusted about the namespace for half a minute', async () => {
  const clock = manualClock();
  const plugin = namespaceLifecycle(readerOf([namespace('gone')], [namespace('gone', 'Terminating')]), clock);
  await verdict(plugin, wish({ of: 'namespaces', operation: 'DELETE', name: 'gone' }));
  const soon = await verdict(plugin, wish({ object: pod('gone') }));
  clock.advance(30_000);
  const later = await verdict(plugin, wish({ object: pod('gone') }));
  expect([soon, later]).toEqual([
    'pods "p" is forbidden: unable to create new content in namespace gone because it is being terminated',
    'ok',
  ]);
});

test('NamespaceExists refuses also the update of what lies in a missing namespace', async () => {
  const plugin = namespaceExists(readerOf([namespace('here')]));
  expect([
    await verdict(plugin, wish({ operation: 'UPDATE', object: pod('here') })),
    await verdict(plugin, wish({ operation: 'UPDATE', object: pod('missing') })),
  ]).toEqual(['ok', 'namespaces "missing" not found']);
});
