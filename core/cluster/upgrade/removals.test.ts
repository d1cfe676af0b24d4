import { expect, test } from 'vitest';
import { planHosts } from '../config/hosts.ts';
import { defaultSpec } from '../config/config.ts';
import { withEtcdServers } from '../membership/etcd-servers.ts';
import { itineraryOf, rollbackSteps, upgradeSteps } from './itinerary.ts';
import { RemovalCount } from './removals.ts';

const stored = (object: object): Uint8Array => Buffer.from(JSON.stringify(object));

test('objects in a version that the target does not read are counted, custom resources are not', () => {
  const count = new RemovalCount(36);
  const old = { kind: 'FlowSchema', apiVersion: 'flowcontrol.apiserver.k8s.io/v1beta3' };
  count.add('/registry/flowschemas/a', stored(old));
  count.add('/registry/flowschemas/b', stored(old));
  count.add('/registry/pods/default/a', stored({ kind: 'Pod', apiVersion: 'v1' }));
  count.add('/registry/example.com/widgets/a', stored({ kind: 'Widget', apiVersion: 'example.com/v1' }));
  count.add('/registry/ranges/serviceips', stored({ kind: 'RangeAllocation', apiVersion: 'v1' }));
  count.add('/registry/secrets/default/s', Buffer.from('k8s:enc:aescbc:v1:key1:...'));
  expect(count.removals).toEqual([
    {
      resource: 'flowcontrol.apiserver.k8s.io/flowschemas',
      version: 'flowcontrol.apiserver.k8s.io/v1beta3',
      count: 2,
    },
  ]);
});

const hosts = planHosts({
  apiVersion: 'pilothouse.dev/v1',
  kind: 'Cluster',
  metadata: { name: 'desk' },
  spec: { ...defaultSpec(40), controlPlanes: 2, etcdMembers: 2, workers: 25 },
});

test('an upgrade goes from API servers to kubelets, and a roll-back the other way', () => {
  const ids = upgradeSteps(itineraryOf(hosts)).map(({ id }) => id);
  expect(ids.slice(0, 8)).toEqual([
    'check',
    'snapshot',
    'apiserver/cp-1',
    'apiserver/cp-2',
    'managers/cp-1',
    'managers/cp-2',
    'node/cp-1',
    'node/cp-2',
  ]);
  const moves = ids.slice(2, -1);
  expect(rollbackSteps(itineraryOf(hosts)).map(({ id }) => id)).toEqual([
    'check',
    ...moves.reverse(),
    'finish',
  ]);
});

test('many workers are drained a tenth at a time', () => {
  const batches = itineraryOf(hosts).nodes.filter(({ host }) => host === 'workers');
  expect(batches.map(({ nodes }) => nodes.length)).toEqual([3, 3, 3, 3, 3, 3, 3, 3, 1]);
});

test('an API server gets the new members without other changes of its manifest', () => {
  const text = 'command:\n  # mine\n  - --etcd-servers=https://a:2379\n  - --v=4\n';
  expect(withEtcdServers(text, ['https://b:2379', 'https://c:2379'])).toBe(
    text.replace('https://a:2379', 'https://b:2379,https://c:2379'),
  );
});
