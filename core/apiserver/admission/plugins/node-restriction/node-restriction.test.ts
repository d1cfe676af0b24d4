import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import type { KubernetesObject } from '../../../../api/meta/index.ts';
import { createRequest } from '../../../../pki/index.ts';
import { userInfo } from '../../../server/user.ts';
import { noOpinion } from '../../../authz/authorizer.ts';
import { readerOf, verdict, wish, type Wish } from '../../testing/fixtures.ts';
import { nodeRestriction } from './node-restriction.ts';

const NODE = userInfo('system:node:n1', ['system:nodes']);

const pod = (name: string, spec: object, metadata: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name, uid: `uid-${name}`, ...metadata },
  spec: { containers: [], ...spec },
});
const owner = {
  apiVersion: 'v1',
  kind: 'Node',
  name: 'n1',
  uid: 'uid-n1',
  controller: true,
};
const mirror = (spec: object = {}, metadata: object = {}): KubernetesObject =>
  pod(
    'm',
    { nodeName: 'n1', ...spec },
    { annotations: { 'kubernetes.io/config.mirror': 'x' }, ownerReferences: [owner], ...metadata },
  );
const node = (name: string, rest: object = {}, metadata: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `uid-${name}`, ...metadata },
  ...rest,
});
const token = (boundObjectRef: object | undefined, audiences?: string[]): KubernetesObject => ({
  apiVersion: 'authentication.k8s.io/v1',
  kind: 'TokenRequest',
  metadata: {},
  spec: { ...(boundObjectRef && { boundObjectRef }), ...(audiences && { audiences }) },
});
const podRef = (name: string): object => ({ apiVersion: 'v1', kind: 'Pod', name, uid: `uid-${name}` });

const reader = readerOf([
  node('n1'),
  pod('here', {
    nodeName: 'n1',
    volumes: [
      { name: 'a', projected: { sources: [{ serviceAccountToken: { path: 't', audience: 'vault' } }] } },
      { name: 'b', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } },
      { name: 'c', csi: { driver: 'csi.x.io' } },
    ],
  }),
  pod('elsewhere', { nodeName: 'n2' }),
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'CSIDriver',
    metadata: { name: 'csi.x.io' },
    spec: { tokenRequests: [{ audience: 'csi' }] },
  },
]);
const ask = (parts: Wish): Promise<string> =>
  verdict(
    nodeRestriction({ reader, authorizer: { authorize: () => noOpinion() } }),
    wish({ user: NODE, ...parts }),
  );
const refused = (what: string, why: string): string => `${what} is forbidden: ${why}`;

test.each<[string, Wish, string]>([
  ['somebody else is not restricted', { user: userInfo('bob'), object: pod('x', {}) }, 'ok'],
  [
    'a node without a name may do nothing',
    { user: userInfo('system:node:', ['system:nodes']), object: pod('x', {}) },
    refused('pods "x"', 'could not determine node from user "system:node:"'),
  ],
  ['a mirror pod of its own', { object: mirror() }, 'ok'],
  [
    'a pod that is no mirror',
    { object: pod('x', { nodeName: 'n1' }) },
    refused(
      'pods "x"',
      'pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods',
    ),
  ],
  [
    'a mirror pod for another node',
    { object: mirror({ nodeName: 'n2' }) },
    refused('pods "m"', 'node "n1" can only create pods with spec.nodeName set to itself'),
  ],
  [
    'a mirror pod without an owner',
    { object: mirror({}, { ownerReferences: [] }) },
    refused('pods "m"', 'node "n1" can only create pods with an owner reference set to itself'),
  ],
  [
    'a mirror pod of an older node of that name',
    { object: mirror({}, { ownerReferences: [{ ...owner, uid: 'old' }] }) },
    refused('pods "m"', 'node n1 UID mismatch: expected old got uid-n1'),
  ],
  [
    'a mirror pod that reads a secret',
    { object: mirror({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }) },
    refused('pods "m"', 'node "n1" can not create pods that reference secrets'),
  ],
  [
    'a mirror pod with a claim',
    { object: mirror({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 's' } }] }) },
    refused('pods "m"', 'node "n1" can not create pods that reference persistentvolumeclaims'),
  ],
  ['a mirror pod with a host path', { object: mirror({ volumes: [{ name: 'v', hostPath: {} }] }) }, 'ok'],
  ['the deletion of its pod', { operation: 'DELETE', name: 'here' }, 'ok'],
  [
    "the deletion of another's pod",
    { operation: 'DELETE', name: 'elsewhere' },
    refused('pods "elsewhere"', 'node "n1" can only delete pods with spec.nodeName set to itself'),
  ],
  ['the deletion of a missing pod', { operation: 'DELETE', name: 'no' }, 'pod "no" not found'],
  [
    'the change of a pod',
    { operation: 'UPDATE', object: pod('here', {}) },
    refused('pods "here"', 'unexpected operation "UPDATE", node "n1" can only create and delete mirror pods'),
  ],
  [
    'another subresource',
    { subresource: 'exec', name: 'here' },
    refused('pods "here"', `unexpected pod subresource "exec", only 'status' and 'eviction' are allowed`),
  ],
  [
    'the status of its pod',
    {
      operation: 'UPDATE',
      subresource: 'status',
      object: pod('here', { nodeName: 'n1' }),
      oldObject: pod('here', { nodeName: 'n1' }),
    },
    'ok',
  ],
  [
    'labels through a status',
    {
      operation: 'UPDATE',
      subresource: 'status',
      object: pod('here', { nodeName: 'n1' }, { labels: { a: 'b' } }),
      oldObject: pod('here', { nodeName: 'n1' }),
    },
    refused('pods "here"', 'node "n1" cannot update labels through pod status'),
  ],
  ['the eviction of its pod', { subresource: 'eviction', name: 'here' }, 'ok'],
  [
    "the eviction of another's pod",
    { subresource: 'eviction', name: 'elsewhere' },
    refused('pods "elsewhere"', 'node n1 can only evict pods with spec.nodeName set to itself'),
  ],
])('pods: %s', async (_, parts, expected) => {
  expect(await ask(parts)).toBe(expected);
});

const update = (next: KubernetesObject, old: KubernetesObject): Wish => ({
  of: 'nodes',
  operation: 'UPDATE',
  object: next,
  oldObject: old,
});

test.each<[string, Wish, string]>([
  [
    'its creation',
    { of: 'nodes', object: node('n1', {}, { labels: { 'kubernetes.io/os': 'linux' } }) },
    'ok',
  ],
  [
    'another node',
    { of: 'nodes', object: node('n2') },
    refused('nodes "n2"', 'node "n1" is not allowed to modify node "n2"'),
  ],
  [
    'labels that steer pods',
    {
      of: 'nodes',
      object: node(
        'n1',
        {},
        {
          labels: {
            'node-restriction.kubernetes.io/x': '',
            'node-role.kubernetes.io/control-plane': '',
            'node.kubernetes.io/free': '',
            'example.com/free': '',
          },
        },
      ),
    },
    refused(
      'nodes "n1"',
      'node "n1" is not allowed to set the following labels: node-restriction.kubernetes.io/x, node-role.kubernetes.io/control-plane',
    ),
  ],
  [
    'the removal of a label',
    update(node('n1'), node('n1', {}, { labels: { 'x.k8s.io/y': '' } })),
    refused('nodes "n1"', 'is not allowed to modify labels: x.k8s.io/y'),
  ],
  [
    'its taints',
    update(
      node('n1', { spec: { taints: [] } }),
      node('n1', { spec: { taints: [{ key: 'k', effect: 'NoSchedule' }] } }),
    ),
    refused('nodes "n1"', 'node "n1" is not allowed to modify taints'),
  ],
  ['its status', update(node('n1', { status: { phase: 'x' } }), node('n1')), 'ok'],
])('nodes: %s', async (_, parts, expected) => {
  expect(await ask(parts)).toBe(expected);
});

test.each<[string, Wish, string]>([
  ['for its pod', { object: token(podRef('here')) }, 'ok'],
  ['for an audience of its pod', { object: token(podRef('here'), ['vault']) }, 'ok'],
  ['for an audience of a CSI driver', { object: token(podRef('here'), ['csi']) }, 'ok'],
  [
    'for another audience',
    { object: token(podRef('here'), ['else']) },
    'system:node:n1 is not authorized to request tokens for audience "else"',
  ],
  [
    'for two audiences',
    { object: token(podRef('here'), ['a', 'b']) },
    'node may only request 0 or 1 audiences',
  ],
  ['for nothing', { object: token(undefined) }, 'node requested token not bound to a pod'],
  [
    "for another's pod",
    { object: token(podRef('elsewhere')) },
    'node requested token bound to a pod scheduled on a different node',
  ],
  [
    'for an older pod of that name',
    { object: token({ ...podRef('here'), uid: 'old' }) },
    'the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
  ],
])('a token %s', async (_, parts, expected) => {
  const answer = await ask({ of: 'serviceaccounts', subresource: 'token', name: 'sa', ...parts });
  expect(answer).toBe(expected === 'ok' ? 'ok' : refused('serviceaccounts "sa"', expected));
});

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const csr = (commonName: string, signerName: string): Wish => ({
  of: 'certificatesigningrequests.certificates.k8s.io',
  object: {
    metadata: { name: 'r' },
    spec: {
      signerName,
      request: Buffer.from(createRequest(privateKey, { subject: { commonName } })).toString('base64'),
    },
  },
});
const lease = (name: string, namespace = 'kube-node-lease'): Wish => ({
  of: 'leases.coordination.k8s.io',
  object: { metadata: { namespace, name } },
});

test.each<[string, Wish, string]>([
  ['its lease', lease('n1'), 'ok'],
  [
    "another's lease",
    lease('n2'),
    refused(
      'leases.coordination.k8s.io "n2"',
      'can only access node lease with the same name as the requesting node',
    ),
  ],
  [
    'a lease elsewhere',
    lease('n1', 'kube-system'),
    refused(
      'leases.coordination.k8s.io "n1"',
      'can only access leases in the "kube-node-lease" system namespace',
    ),
  ],
  [
    "another's CSINode",
    { of: 'csinodes.storage.k8s.io', operation: 'DELETE', name: 'n2' },
    refused(
      'csinodes.storage.k8s.io "n2"',
      'can only access CSINode with the same name as the requesting node',
    ),
  ],
  [
    "another's ResourceSlice",
    { of: 'resourceslices.resource.k8s.io', object: { metadata: { name: 's' }, spec: { nodeName: 'n2' } } },
    refused(
      'resourceslices.resource.k8s.io "s"',
      'can only create ResourceSlice with the same NodeName as the requesting node',
    ),
  ],
  ['a certificate for itself', csr('system:node:n1', 'kubernetes.io/kubelet-serving'), 'ok'],
  [
    'a certificate for another',
    csr('system:node:n2', 'kubernetes.io/kube-apiserver-client-kubelet'),
    refused(
      'certificatesigningrequests.certificates.k8s.io "r"',
      'can only create a node CSR with CN=system:node:n1',
    ),
  ],
  [
    'the spec of a claim',
    {
      of: 'persistentvolumeclaims',
      operation: 'UPDATE',
      subresource: 'status',
      object: { metadata: { name: 'c' }, spec: { volumeName: 'x' }, status: { phase: 'Bound' } },
      oldObject: { metadata: { name: 'c' }, status: { phase: 'Bound' } },
    },
    refused(
      'persistentvolumeclaims "c"',
      'node "n1" is not allowed to update fields other than status.quantity and status.conditions',
    ),
  ],
  [
    'the capacity of a claim',
    {
      of: 'persistentvolumeclaims',
      operation: 'UPDATE',
      subresource: 'status',
      object: { metadata: { name: 'c' }, status: { phase: 'Bound', capacity: { storage: '2Gi' } } },
      oldObject: { metadata: { name: 'c', resourceVersion: '1' }, status: { phase: 'Bound' } },
    },
    'ok',
  ],
])('a node and %s', async (_, parts, expected) => {
  expect(await ask(parts)).toBe(expected);
});
