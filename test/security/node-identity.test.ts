import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { isStatusError } from '../../core/api/meta/status.ts';
import {
  CLUSTER_ROLE_BINDING,
  CONFIG_MAP,
  connect,
  LEASE,
  loadKubeconfig,
  NAMESPACE,
  NODE,
  POD,
  SECRET,
  SERVICE_ACCOUNT,
  type Client,
  type OwnedClient,
  type Pod,
} from '../../core/client/index.ts';
import { adminClient } from '../support/cluster.ts';
import { until } from '../support/until.ts';

const data = inject('attackedData');
const NAMESPACE_NAME = 'node-identity';
const ATTACKER = 'node-identity-attack';
/** Requests that were answered with 403. */
let denied = 0;

let admin: OwnedClient;
let worker: OwnedClient;
/** One pod on each worker; each mounts a Secret and runs under a service account of its own. */
const podOn = (node: string): Pod => ({
  metadata: { name: `on-${node}`, namespace: NAMESPACE_NAME },
  spec: {
    nodeName: node,
    serviceAccountName: `of-${node}`,
    containers: [{ name: 'main', image: 'registry.example/app:1' }],
    volumes: [{ name: 'key', secret: { secretName: `of-${node}` } }],
  },
});

const asNode = async (name: string): Promise<OwnedClient> =>
  connect(await loadKubeconfig(join(data, 'kubeconfig', `kubelet-${name}.conf`)), {
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    userAgent: ATTACKER,
  });

beforeAll(async () => {
  admin = await adminClient(data);
  worker = await asNode('worker-1');
  await admin.resource(NAMESPACE).create({ metadata: { name: NAMESPACE_NAME } });
  for (const node of ['worker-1', 'worker-2']) {
    await admin.resource(SERVICE_ACCOUNT, NAMESPACE_NAME).create({ metadata: { name: `of-${node}` } });
    await admin
      .resource(SECRET, NAMESPACE_NAME)
      .create({ metadata: { name: `of-${node}` }, stringData: { key: node } });
    await admin.resource(POD, NAMESPACE_NAME).create(podOn(node));
  }
  await admin
    .resource(SECRET, NAMESPACE_NAME)
    .create({ metadata: { name: 'of-nobody' }, stringData: { key: 'x' } });
  await until('both pods to run', async () => {
    const { items } = await admin.resource(POD, NAMESPACE_NAME).list();
    return items.length === 2 && items.every(({ status }) => status?.phase === 'Running');
  });
});
afterAll(async () => {
  await admin.resource(NAMESPACE).delete(NAMESPACE_NAME);
  worker.dispose();
  admin.dispose();
});

/** `allowed`, or the status code and text of the refusal. */
const outcome = async (request: Promise<unknown>): Promise<string> => {
  try {
    await request;
    return 'allowed';
  } catch (error) {
    if (!isStatusError(error)) throw error;
    if (error.status.code === 403) denied += 1;
    return `${error.status.code} ${error.message}`;
  }
};

const tokenRequest = (account: string, bound: { name: string; uid: string }) => (client: Client) =>
  client.resource(SERVICE_ACCOUNT, NAMESPACE_NAME).createSubresource(account, 'token', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { expirationSeconds: 600, boundObjectRef: { apiVersion: 'v1', kind: 'Pod', ...bound } },
  });

const podRef = async (name: string): Promise<{ name: string; uid: string }> => {
  const { metadata } = await admin.resource(POD, NAMESPACE_NAME).get(name);
  return { name, uid: metadata.uid };
};

const label = (node: string, labels: Record<string, string>): Promise<unknown> =>
  worker.resource(NODE).patch(node, { type: 'merge', body: { metadata: { labels } } });

const mirror = (node: string): Promise<unknown> =>
  worker.resource(POD, NAMESPACE_NAME).create({
    metadata: {
      name: `mirror-${node}`,
      namespace: NAMESPACE_NAME,
      annotations: { 'kubernetes.io/config.mirror': 'x' },
    },
    spec: { nodeName: node, containers: [{ name: 'main', image: 'registry.example/app:1' }] },
  });

test('a node reads and writes what is its own', async () => {
  expect([
    await outcome(worker.resource(SECRET, NAMESPACE_NAME).get('of-worker-1')),
    await outcome(worker.resource(POD).list({ fieldSelector: 'spec.nodeName=worker-1' })),
    await outcome(label('worker-1', { 'example.com/rack': 'r1' })),
    await outcome(tokenRequest('of-worker-1', await podRef('on-worker-1'))(worker)),
    await outcome(worker.resource(LEASE, 'kube-node-lease').get('worker-1')),
  ]).toEqual(['allowed', 'allowed', 'allowed', 'allowed', 'allowed']);
});

test.each([
  ['that nobody mounts', 'of-nobody'],
  ['of a pod on another node', 'of-worker-2'],
])('a node cannot read a Secret %s', async (_claim, name) => {
  expect(await outcome(worker.resource(SECRET, NAMESPACE_NAME).get(name))).toBe(
    `403 secrets "${name}" is forbidden: User "system:node:worker-1" cannot get resource "secrets" in API group "" in the namespace "${NAMESPACE_NAME}": no relationship found between node 'worker-1' and this object`,
  );
});

test('a node cannot list Secrets, ConfigMaps or pods of all nodes', async () => {
  const outcomes = await Promise.all([
    outcome(worker.resource(SECRET).list()),
    outcome(worker.resource(CONFIG_MAP, NAMESPACE_NAME).list()),
    outcome(worker.resource(POD).list()),
    outcome(worker.resource(POD).list({ fieldSelector: 'spec.nodeName=worker-2' })),
  ]);
  expect(outcomes.map((text) => text.slice(0, 3))).toEqual(['403', '403', '403', '403']);
});

test('a node cannot label, patch or delete another node, nor give itself a restricted label', async () => {
  expect(await outcome(label('cp-1', { 'example.com/rack': 'r1' }))).toContain(
    `403 nodes "cp-1" is forbidden: node "worker-1" is not allowed to modify node "cp-1"`,
  );
  expect(
    await outcome(
      worker.resource(NODE).patch('worker-2', { type: 'merge', body: { spec: { unschedulable: true } } }),
    ),
  ).toContain('is not allowed to modify node "worker-2"');
  expect(await outcome(worker.resource(NODE).delete('worker-2'))).toMatch(/^403 /);
  expect(await outcome(label('worker-1', { 'node-role.kubernetes.io/control-plane': '' }))).toContain(
    'is not allowed to modify labels: node-role.kubernetes.io/control-plane',
  );
});

test('a node cannot mint a token for a pod elsewhere, nor for an account that its pods do not use', async () => {
  const elsewhere = await outcome(tokenRequest('of-worker-2', await podRef('on-worker-2'))(worker));
  expect(elsewhere).toMatch(/^403 /);
  const escalating = await outcome(tokenRequest('of-worker-2', await podRef('on-worker-1'))(worker));
  expect(escalating).toMatch(/^403 /);
  const controller = await outcome(
    worker
      .resource(SERVICE_ACCOUNT, 'kube-system')
      .createSubresource('clusterrole-aggregation-controller', 'token', {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 600 },
      }),
  );
  expect(controller).toMatch(/^403 /);
});

test('a node cannot create a mirror pod elsewhere, nor an ordinary pod, nor write the status of a pod elsewhere', async () => {
  expect(await outcome(mirror('worker-2'))).toContain(
    'node "worker-1" can only create pods with spec.nodeName set to itself',
  );
  expect(
    await outcome(
      worker.resource(POD, NAMESPACE_NAME).create({ ...podOn('worker-1'), metadata: { name: 'x' } }),
    ),
  ).toMatch(/^403 /);
  const status = { type: 'strategic' as const, body: { status: { phase: 'Failed' } } };
  expect(await outcome(worker.resource(POD, NAMESPACE_NAME).patchStatus('on-worker-2', status))).toMatch(
    /^403 /,
  );
  expect(await outcome(worker.resource(POD, NAMESPACE_NAME).delete('on-worker-2'))).toMatch(/^403 /);
});

test('a node cannot renew the lease of another', async () => {
  const lease = await admin.resource(LEASE, 'kube-node-lease').get('worker-2');
  expect(await outcome(worker.resource(LEASE, 'kube-node-lease').update(lease))).toMatch(/^403 /);
});

test('no identity is shared by nodes, and no one is bound to system:node', async () => {
  const files = readdirSync(join(data, 'kubeconfig')).filter((name) => name.startsWith('kubelet-'));
  expect(files).toEqual(
    ['cp-1', 'cp-2', 'cp-3', 'worker-1', 'worker-2'].map((name) => `kubelet-${name}.conf`),
  );
  const { items } = await admin.resource(CLUSTER_ROLE_BINDING).list();
  const bound = items
    .filter(({ roleRef }) => roleRef.name === 'system:node')
    .flatMap(({ subjects = [] }) => subjects);
  expect(bound).toEqual([]);
});

test('every attempt that was denied is in the audit log', async () => {
  const folder = join(data, 'audit');
  await until('the events', () => {
    const events = readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
      .filter((line) => line.includes(`"userAgent":"${ATTACKER}"`) && line.includes('"code":403}'));
    return Promise.resolve(denied > 0 && events.length === denied);
  });
});
