import { expect, test } from 'vitest';
import { userInfo } from '../../server/user.ts';
import { resourceAttributes } from '../authorizer.ts';
import { nodeRules } from '../bootstrap/bootstrap-policy.ts';
import { nodeAuthorizer } from './node-authorizer.ts';
import { NodeGraph } from './node-graph.ts';
import { podForGraph } from './pod-references.ts';
import { volumeForGraph } from './volume-references.ts';

const pod = (name: string, nodeName: string, spec: object = {}, annotations?: Record<string, string>) =>
  podForGraph({
    metadata: { namespace: 'ns', name, ...(annotations && { annotations }) },
    spec: { nodeName, ...spec },
  });

const world = () => {
  const graph = new NodeGraph();
  graph.upsertPod(
    pod('web', 'n1', {
      serviceAccountName: 'sa',
      imagePullSecrets: [{ name: 'pull' }],
      containers: [
        {
          env: [{ valueFrom: { secretKeyRef: { name: 'env-secret' } } }],
          envFrom: [{ configMapRef: { name: 'env-map' } }],
        },
      ],
      volumes: [
        {
          name: 'a',
          projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'map' } }] },
        },
        { name: 'b', persistentVolumeClaim: { claimName: 'claim' } },
        { name: 'c', ephemeral: {} },
      ],
      resourceClaims: [{ name: 'gpu', resourceClaimName: 'gpu-claim' }],
    }),
  );
  graph.upsertPod(
    pod(
      'static',
      'n1',
      { volumes: [{ secret: { secretName: 'stolen' } }] },
      { 'kubernetes.io/config.mirror': 'x' },
    ),
  );
  graph.upsertVolume(
    volumeForGraph({
      metadata: { name: 'pv' },
      spec: {
        claimRef: { namespace: 'ns', name: 'claim' },
        csi: {
          nodeStageSecretRef: { namespace: 'storage', name: 'stage' },
          controllerPublishSecretRef: { namespace: 'storage', name: 'controller' },
        },
      },
    }),
  );
  graph.setOwner('volumeattachment', { namespace: '', name: 'va' }, 'n1');
  graph.setOwner('resourceslice', { namespace: '', name: 'slice' }, 'n1');
  return { graph, authorizer: nodeAuthorizer(graph, nodeRules(36)) };
};

type World = ReturnType<typeof world>;
/** `verb group/resource[/subresource] [namespace/]name [field=value]` as a node. */
const ask = async ({ authorizer }: World, what: string, node = 'n1') => {
  const [verb = '', target = '', object = '', selector = ''] = what.split(' ');
  const [apiGroup = '', resource = '', subresource = ''] = target.split('/');
  const [namespace = '', name = ''] = object.includes('/') ? object.split('/') : ['', object];
  const [field = '', value = ''] = selector.split('=');
  const user = userInfo(`system:node:${node}`, ['system:nodes']);
  const fieldRequirements = selector === '' ? [] : [{ field, operator: '=' as const, value }];
  const attributes = resourceAttributes(user, {
    verb,
    apiGroup,
    resource,
    subresource,
    namespace,
    name,
    fieldRequirements,
  });
  const { decision, reason } = await authorizer.authorize(attributes);
  return decision === 'allow' ? 'allow' : reason;
};

const UNRELATED = "no relationship found between node 'n1' and this object";

test.each([
  ['get /secrets ns/pull', 'allow'],
  ['get /secrets ns/env-secret', 'allow'],
  ['watch /secrets ns/projected', 'allow'],
  ['get /secrets storage/stage', 'allow'],
  ['get /secrets storage/controller', UNRELATED],
  ['get /secrets ns/other', UNRELATED],
  ['get /secrets ns/stolen', UNRELATED],
  ['list /secrets ns/', 'No Object name found'],
  ['list /secrets ', 'can only read namespaced object of this type'],
  ['update /secrets ns/pull', 'can only read resources of this type'],
  ['get /configmaps ns/env-map', 'allow'],
  ['get /configmaps ns/map', 'allow'],
  ['get /configmaps other/map', UNRELATED],
  ['get /persistentvolumeclaims ns/claim', 'allow'],
  ['get /persistentvolumeclaims ns/web-c', 'allow'],
  ['patch /persistentvolumeclaims/status ns/claim', 'allow'],
  ['list /persistentvolumeclaims ns/claim', 'can only get individual resources of this type'],
  ['get /persistentvolumes pv', 'allow'],
  ['get /persistentvolumes other', UNRELATED],
  ['get resource.k8s.io/resourceclaims ns/gpu-claim', 'allow'],
  ['get storage.k8s.io/volumeattachments va', 'allow'],
  ['create /serviceaccounts/token ns/sa', 'allow'],
  ['create /serviceaccounts/token ns/other', UNRELATED],
  ['get /serviceaccounts ns/sa', 'allow'],
  ['delete /serviceaccounts ns/sa', 'can only create tokens for individual service accounts'],
  ['update coordination.k8s.io/leases kube-node-lease/n1', 'allow'],
  [
    'update coordination.k8s.io/leases kube-node-lease/n2',
    'can only access node lease with the same name as the requesting node',
  ],
  [
    'get coordination.k8s.io/leases kube-system/n1',
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    'list coordination.k8s.io/leases kube-node-lease/',
    'can only get, create, update, patch, or delete a node lease',
  ],
  ['get storage.k8s.io/csinodes n1', 'allow'],
  ['get storage.k8s.io/csinodes n2', 'can only access CSINode with the same name as the requesting node'],
  ['delete resource.k8s.io/resourceslices slice', 'allow'],
  ['delete resource.k8s.io/resourceslices other', UNRELATED],
  ['list resource.k8s.io/resourceslices  spec.nodeName=n1', 'allow'],
  [
    'list resource.k8s.io/resourceslices ',
    'can only list/watch/deletecollection resourceslices with nodeName field selector',
  ],
  ['get /nodes n1', 'allow'],
  ['get /nodes n2', "node 'n1' cannot read 'n2', only its own Node object"],
  ['list /nodes ', "node 'n1' cannot read all nodes, only its own Node object"],
  ['patch /nodes/status n1', 'allow'],
  ['delete /nodes n1', ''],
  ['list /pods  spec.nodeName=n1', 'allow'],
  ['list /pods  spec.nodeName=n2', 'can only list/watch pods with spec.nodeName field selector'],
  ['get /pods ns/web', 'allow'],
  ['get /pods ns/elsewhere', UNRELATED],
  ['create /pods/eviction ns/web', 'allow'],
  ['list /services ', 'allow'],
  ['create /services ns/x', ''],
])('%s: %s', async (what, expected) => {
  expect(await ask(world(), what)).toBe(expected);
});

test('a node loses access to an object with the last pod that refers to it', async () => {
  const here = world();
  here.graph.upsertPod(pod('second', 'n1', { imagePullSecrets: [{ name: 'pull' }] }));
  here.graph.deletePod({ namespace: 'ns', name: 'web' });
  expect([await ask(here, 'get /secrets ns/pull'), await ask(here, 'get /persistentvolumes pv')]).toEqual([
    'allow',
    UNRELATED,
  ]);
  here.graph.upsertPod(pod('second', 'n2', { imagePullSecrets: [{ name: 'pull' }] }));
  expect([await ask(here, 'get /secrets ns/pull'), await ask(here, 'get /secrets ns/pull', 'n2')]).toEqual([
    UNRELATED,
    'allow',
  ]);
});

test('only members of system:nodes with the name of a node are nodes', async () => {
  const { authorizer } = world();
  const verdict = (name: string, groups: string[]) =>
    authorizer.authorize(
      resourceAttributes(userInfo(name, groups), { verb: 'get', resource: 'nodes', name: 'n1' }),
    );
  expect([
    await verdict('system:node:n1', []),
    await verdict('n1', ['system:nodes']),
    await verdict('system:node:', ['system:nodes']),
  ]).toEqual([
    { decision: 'no-opinion', reason: '' },
    { decision: 'no-opinion', reason: '' },
    { decision: 'no-opinion', reason: 'unknown node for user "system:node:"' },
  ]);
});
