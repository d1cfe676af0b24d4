import { describe, expect, test } from 'vitest';
import { manualClock } from '../../../base/manual-clock.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { allow, noOpinion, type Attributes, type Authorizer } from '../../authz/authorizer.ts';
import { createKindFinder } from '../kind-finder.ts';
import { readerOf, verdict, wish } from '../testing/fixtures.ts';
import { clusterTrustBundleAttest } from './certificates.ts';
import { denyServiceExternalIPs } from './deny-service-external-ips.ts';
import { eventRateLimit } from './event-rate-limit.ts';
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts';
import { nodeDeclaredFeatureValidator } from './node-declared-feature-validator.ts';
import { namespaceAutoProvision } from './namespace-auto-provision.ts';
import { ownerReferencesPermissionEnforcement } from './owner-references-permission-enforcement.ts';
import { podNodeSelector } from './pod-node-selector.ts';
import { podResizeValidator } from './pod-resize-validator.ts';
import { podTolerationRestriction } from './pod-toleration-restriction.ts';
import { podTopologyLabels } from './pod-topology-labels.ts';

type Obj = Record<string, unknown>;

const pod = (spec: Obj = {}, metadata: Obj = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p', ...metadata },
  spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
});
const namespace = (annotations: Record<string, string> = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'ns', annotations },
});
const node = (labels: Record<string, string>, status: Obj = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n', labels },
  status,
});
const allowing = (allowed: (attributes: Attributes) => boolean): Authorizer => ({
  authorize: (attributes) => (allowed(attributes) ? allow() : noOpinion('no')),
});

test('hard anti-affinity is limited to nodes', async () => {
  const spread = (topologyKey: string) =>
    pod({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
    });
  const plugin = limitPodHardAntiAffinityTopology();
  expect(await verdict(plugin, wish({ object: spread('kubernetes.io/hostname') }))).toBe('ok');
  expect(await verdict(plugin, wish({ object: spread('zone') }))).toBe(
    'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only key kubernetes.io/hostname is allowed',
  );
});

test('external addresses of services are denied unless they are there', async () => {
  const service = (...externalIPs: string[]) => ({
    metadata: { namespace: 'ns', name: 's' },
    spec: { externalIPs },
  });
  const plugin = denyServiceExternalIPs();
  const of = 'services';
  expect(await verdict(plugin, wish({ of, object: service() }))).toBe('ok');
  expect(await verdict(plugin, wish({ of, object: service('1.2.3.4') }))).toBe(
    'services "s" is forbidden: Use of external IPs is denied by admission control',
  );
  const update = { of, operation: 'UPDATE', oldObject: service('1.2.3.4', '5.6.7.8') } as const;
  expect(await verdict(plugin, wish({ ...update, object: service('5.6.7.8') }))).toBe('ok');
  expect(await verdict(plugin, wish({ ...update, object: service('9.9.9.9') }))).toContain('is denied');
});

test('a namespace that is missing is created, except in dry runs', async () => {
  const created: string[] = [];
  const create = (name: string): Promise<void> => Promise.resolve(void created.push(name));
  const plugin = namespaceAutoProvision(readerOf([namespace()]), create);
  await verdict(plugin, wish({ object: pod() }));
  await verdict(plugin, wish({ object: pod(), namespace: 'new' }));
  await verdict(plugin, wish({ object: pod(), namespace: 'dry', isDryRun: true }));
  expect(created).toEqual(['new']);
});

describe('topology labels', () => {
  const zone = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' };
  const plugin = podTopologyLabels(readerOf([node({ ...zone, other: 'x' })]));

  test('are copied from the node to a pod and to a binding', async () => {
    const own = wish({ object: pod({ nodeName: 'n' }, { labels: { app: 'a' } }) });
    await verdict(plugin, own);
    const binding = wish({
      object: { metadata: { name: 'p' }, target: { kind: 'Node', name: 'n' } },
      subresource: 'binding',
    });
    await verdict(plugin, binding);
    expect([own.object?.metadata?.labels, binding.object?.metadata?.labels]).toEqual([
      { app: 'a', ...zone },
      zone,
    ]);
  });

  test('are left out for pods without a node', async () => {
    const attributes = wish({ object: pod() });
    await verdict(plugin, attributes);
    expect(attributes.object?.metadata?.labels).toBeUndefined();
  });
});

describe('owner references', () => {
  const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'u' };
  const find = createKindFinder(36, readerOf([]));
  const owned = (...ownerReferences: unknown[]) => pod({}, { ownerReferences });
  const enforce = (allowed: (attributes: Attributes) => boolean) =>
    ownerReferencesPermissionEnforcement(allowing(allowed), find);

  test.each<[string, Parameters<typeof wish>[0], (attributes: Attributes) => boolean, string]>([
    [
      'no change needs no right',
      { operation: 'UPDATE', object: owned(owner), oldObject: owned(owner) },
      () => false,
      'ok',
    ],
    ['a new object needs no right to delete', { object: owned(owner) }, () => false, 'ok'],
    [
      'a change needs the right to delete',
      { operation: 'UPDATE', object: owned(owner), oldObject: owned() },
      () => false,
      `pods "p" is forbidden: cannot set an ownerRef on a resource you can't delete: no, <nil>`,
    ],
    [
      'blocking needs the right to finalize the owner',
      { object: owned({ ...owner, blockOwnerDeletion: true }) },
      () => false,
      `pods "p" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: no, <nil>`,
    ],
    [
      'who may finalize the owner may block',
      { object: owned({ ...owner, blockOwnerDeletion: true }) },
      ({ resource, subresource, namespace: within, name }) =>
        resource === 'replicasets' && subresource === 'finalizers' && within === 'ns' && name === 'rs',
      'ok',
    ],
    [
      'an owner of an unknown kind',
      { object: owned({ ...owner, kind: 'Nope', blockOwnerDeletion: true }) },
      () => false,
      'pods "p" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion apps/v1 Kind Nope: no matches for kind "Nope" in version "apps/v1"',
    ],
    [
      'the status of pods is exempt',
      { operation: 'UPDATE', subresource: 'status', object: owned(owner), oldObject: owned() },
      () => false,
      'ok',
    ],
  ])('%s', async (_name, attributes, allowed, expected) => {
    expect(await verdict(enforce(allowed), wish(attributes))).toBe(expected);
  });
});

describe('node selectors of namespaces', () => {
  const ANNOTATION = 'scheduler.alpha.kubernetes.io/node-selector';
  test('are merged into pods, and what contradicts them is refused', async () => {
    const plugin = podNodeSelector(readerOf([namespace({ [ANNOTATION]: 'env=prod, disk=ssd' })]), {
      ns: 'env=prod,disk=ssd,gpu=yes',
    });
    const attributes = wish({ object: pod({ nodeSelector: { gpu: 'yes' } }) });
    expect(await verdict(plugin, attributes)).toBe('ok');
    expect(attributes.object).toMatchObject({
      spec: { nodeSelector: { env: 'prod', disk: 'ssd', gpu: 'yes' } },
    });
    expect(await verdict(plugin, wish({ object: pod({ nodeSelector: { env: 'test' } }) }))).toBe(
      'pods "p" is forbidden: pod node label selector conflicts with its namespace node label selector',
    );
    expect(await verdict(plugin, wish({ object: pod({ nodeSelector: { x: 'y' } }) }))).toBe(
      'pods "p" is forbidden: pod node label selector labels conflict with its namespace whitelist',
    );
  });

  test('of the cluster apply where a namespace has none', async () => {
    const attributes = wish({ object: pod() });
    await verdict(
      podNodeSelector(readerOf([namespace()]), { clusterDefaultNodeSelector: 'env=any' }),
      attributes,
    );
    expect(attributes.object).toMatchObject({ spec: { nodeSelector: { env: 'any' } } });
  });
});

test('tolerations of namespaces are added, and others need to be allowed', async () => {
  const dedicated = { key: 'dedicated', operator: 'Exists' };
  const reader = readerOf([
    namespace({
      'scheduler.alpha.kubernetes.io/defaultTolerations': JSON.stringify([dedicated]),
      'scheduler.alpha.kubernetes.io/tolerationsWhitelist': JSON.stringify([dedicated]),
    }),
  ]);
  const plugin = podTolerationRestriction(reader);
  const attributes = wish({ object: pod() });
  expect(await verdict(plugin, attributes)).toBe('ok');
  expect(attributes.object).toMatchObject({ spec: { tolerations: [dedicated] } });
  expect(
    await verdict(plugin, wish({ object: pod({ tolerations: [{ key: 'other', operator: 'Exists' }] }) })),
  ).toBe(
    'pod tolerations (possibly merged with namespace default tolerations) conflict with its namespace whitelist',
  );
});

test('events beyond a limit are refused until tokens are back', async () => {
  const clock = manualClock();
  const plugin = eventRateLimit(clock, [{ type: 'Namespace', qps: 1, burst: 2, cacheSize: 10 }]);
  const event = (within: string) =>
    wish({ of: 'events', object: { metadata: { namespace: within, name: 'e' } } });
  const seen: string[] = [];
  for (const within of ['a', 'a', 'a', 'b']) seen.push(await verdict(plugin, event(within)));
  clock.advance(1000);
  seen.push(await verdict(plugin, event('a')));
  expect(seen).toEqual(['ok', 'ok', 'limit reached on type Namespace for key a', 'ok', 'ok']);
});

test('a pod does not grow beyond its node', async () => {
  const reader = readerOf([node({}, { allocatable: { cpu: '2', memory: '1Gi' } })]);
  const sized = (cpu: string, generation: number) =>
    pod(
      { nodeName: 'n', containers: [{ name: 'c', image: 'i', resources: { requests: { cpu } } }] },
      { generation },
    );
  const resize = { operation: 'UPDATE', subresource: 'resize', oldObject: sized('1', 1) } as const;
  const plugin = podResizeValidator(reader);
  expect(await verdict(plugin, wish({ ...resize, object: sized('2', 2) }))).toBe('ok');
  expect(await verdict(plugin, wish({ ...resize, object: sized('3', 2) }))).toBe(
    `pods "p" is forbidden: node didn't have enough allocatable resources: cpu, requested: 3000, allocatable: 2000`,
  );
});

test('trust bundles of a signer are written by those who may attest for it', async () => {
  const attributes = (signerName: string) =>
    wish({
      of: 'clustertrustbundles.certificates.k8s.io',
      object: { metadata: { name: 'b' }, spec: { signerName } },
    });
  const plugin = clusterTrustBundleAttest(
    allowing(({ verb, name }) => verb === 'attest' && name === 'example.com/*'),
  );
  expect(await verdict(plugin, attributes('example.com/a'))).toBe('ok');
  expect(await verdict(plugin, attributes('other.com/a'))).toBe(
    'clustertrustbundles.certificates.k8s.io "b" is forbidden: user not permitted to attest for signerName "other.com/a"',
  );
});

test('a pod is not changed into what its node does not declare', async () => {
  const FEATURE = 'InPlacePodLevelResourcesVerticalScaling';
  const sized = (cpu: string, generation: number) =>
    pod({ nodeName: 'n', resources: { limits: { cpu } } }, { generation });
  const resize = {
    operation: 'UPDATE',
    subresource: 'resize',
    oldObject: sized('1', 1),
    object: sized('2', 2),
  } as const;
  const on = (declaredFeatures: string[]) =>
    nodeDeclaredFeatureValidator(readerOf([node({}, { declaredFeatures })]));
  expect(await verdict(on([FEATURE]), wish(resize))).toBe('ok');
  expect(await verdict(on([]), wish({ ...resize, object: sized('1', 2) }))).toBe('ok');
  expect(await verdict(on([]), wish(resize))).toBe(
    `pods "p" is forbidden: pod update requires features ${FEATURE} which are not available on node "n"`,
  );
});
