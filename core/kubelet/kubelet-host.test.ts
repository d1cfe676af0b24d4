import { expect, test } from 'vitest';
import { LEASE, NODE, POD, SECRET } from '../client/index.ts';
import { FakeApi } from '../client/testing/index.ts';
import type { PullRequest } from './runtimes/runtime.ts';
import { container, pod } from './testing/world.ts';
import { hosted } from './testing/hosted.ts';

test('a node registers itself with labels, capacity, addresses and conditions', async () => {
  const { api, stop } = await hosted({
    change: (node) => ({
      ...node,
      identity: {
        ...node.identity,
        labels: { 'topology.kubernetes.io/zone': 'a' },
        taints: [{ key: 'dedicated', effect: 'NoSchedule' }],
        podCIDR: '127.78.0.0/24',
      },
    }),
  });
  const node = api.get(NODE, 'n1', '');
  expect(node).toMatchObject({
    metadata: {
      labels: {
        'kubernetes.io/hostname': 'n1',
        'kubernetes.io/os': 'linux',
        'topology.kubernetes.io/zone': 'a',
      },
    },
    spec: { podCIDR: '127.78.0.0/24', taints: [{ key: 'dedicated', effect: 'NoSchedule' }] },
    status: {
      capacity: { cpu: '4', memory: '8Gi', pods: '110' },
      addresses: [
        { type: 'InternalIP', address: '127.79.0.0' },
        { type: 'Hostname', address: 'n1' },
      ],
      daemonEndpoints: { kubeletEndpoint: { Port: 10250 } },
      nodeInfo: { kubeletVersion: 'v1.36.0', containerRuntimeVersion: 'simulated://1.0.0' },
    },
  });
  expect(node.status?.conditions?.map(({ type, status, reason }) => [type, status, reason])).toEqual([
    ['MemoryPressure', 'False', 'KubeletHasSufficientMemory'],
    ['DiskPressure', 'False', 'KubeletHasNoDiskPressure'],
    ['PIDPressure', 'False', 'KubeletHasSufficientPID'],
    ['Ready', 'True', 'KubeletReady'],
  ]);
  await stop();
});

test('a runtime that cannot start pods makes its node not ready, with the reason', async () => {
  let problem: string | undefined = 'container runtime is down';
  const { api, advance, stop } = await hosted({
    change: (node) => {
      Object.assign(node.runtime, { problem: () => Promise.resolve(problem) });
      return node;
    },
  });
  const ready = () => {
    const condition = api.get(NODE, 'n1', '').status?.conditions?.find(({ type }) => type === 'Ready');
    return [condition?.status, condition?.reason, condition?.message];
  };
  expect(ready()).toEqual(['False', 'KubeletNotReady', 'container runtime is down']);
  problem = undefined;
  for (let turns = 0; turns < 2; turns += 1) await advance(10_000);
  expect(ready()).toEqual(['True', 'KubeletReady', 'kubelet is posting ready status']);
  await stop();
});

test('images that could not be collected are an event of the node, every five minutes', async () => {
  const outcomes = [
    { wantedBytes: 10, freedBytes: 4 },
    new Error('no disk'),
    { wantedBytes: 0, freedBytes: 0 },
  ];
  const { events, advance, stop } = await hosted({
    change: (node) => {
      const collectImages = () => {
        const next = outcomes.shift();
        return next instanceof Error ? Promise.reject(next) : Promise.resolve(next);
      };
      Object.assign(node.runtime, { collectImages });
      return node;
    },
  });
  for (let turns = 0; turns < 3; turns += 1) await advance(300_000);
  expect(events.filter((text) => /FreeDiskSpaceFailed|ImageGCFailed/.test(text))).toEqual([
    'n1 n1 Warning FreeDiskSpaceFailed Failed to garbage collect required amount of images. Attempted to free 10 bytes, but only found 4 bytes eligible to free.',
    'n1 n1 Warning ImageGCFailed no disk',
  ]);
  await stop();
});

test('a pod that cannot be removed does not keep others from being removed', async () => {
  const tried: string[] = [];
  const { advance, stop } = await hosted({
    change: (node) => {
      Object.assign(node.runtime, {
        isDurable: true,
        heldPods: () => Promise.resolve(['a', 'b'].map((uid) => ({ uid, namespace: 'default', name: uid }))),
        removePod: (uid: string) => {
          tried.push(uid);
          return uid === 'a' ? Promise.reject(new Error('still mounted')) : Promise.resolve();
        },
      });
      return node;
    },
  });
  await advance(1_000);
  expect(tried).toEqual(['a', 'b']);
  await stop();
});

test('pull secrets are read for the image, and missing ones are an event', async () => {
  const api = new FakeApi();
  const auths = { 'registry.local': { username: 'me', password: 'secret' } };
  const data = { '.dockerconfigjson': Buffer.from(JSON.stringify({ auths })).toString('base64') };
  api.seed(SECRET, { metadata: { name: 'known' }, type: 'kubernetes.io/dockerconfigjson', data });
  const pulled: unknown[] = [];
  const { events, advance, stop } = await hosted({
    api,
    change: (node) => {
      const pull = node.runtime.pullImage.bind(node.runtime);
      Object.assign(node.runtime, {
        pullImage: (request: PullRequest) => {
          pulled.push(request.credentials);
          return pull(request);
        },
      });
      return node;
    },
  });
  const spec = {
    nodeName: 'n1',
    containers: [container('a', { image: 'registry.local/app:1' })],
    imagePullSecrets: [{ name: 'known' }, { name: 'unknown' }],
  };
  api.seed(POD, pod(spec));
  for (let turns = 0; turns < 3; turns += 1) await advance(1_000);
  expect(pulled[0]).toEqual([{ username: 'me', password: 'secret', identityToken: '' }]);
  expect(events.filter((text) => text.includes('ImagePullSecret'))).toEqual([
    'n1 web Warning FailedToRetrieveImagePullSecret Unable to retrieve some image pull secrets (unknown); attempting to pull the image may not succeed.',
  ]);
  await stop();
});

test('the lease is renewed every 10 s and the unchanged status every 5 minutes', async () => {
  const { api, advance, stop } = await hosted();
  await advance(10_000);
  expect(api.get(LEASE, 'n1', 'kube-node-lease').spec).toMatchObject({
    holderIdentity: 'n1',
    leaseDurationSeconds: 40,
  });
  api.forgetRequests();
  for (let i = 0; i < 31; i += 1) await advance(10_000);
  const writes = api.writes();
  expect(writes.filter((write) => write.includes('leases')).length).toBeGreaterThanOrEqual(30);
  expect(writes.filter((write) => write.includes('leases')).length).toBeLessThanOrEqual(33);
  expect(writes.filter((write) => write.includes('nodes'))).toHaveLength(1);
  await stop();
});

test('a pod bound to the node runs, and its status is written to the API', async () => {
  const { api, advance, stop } = await hosted();
  api.seed(POD, pod({}));
  await advance(0);
  expect(api.get(POD, 'web').status).toMatchObject({ phase: 'Running', podIP: '127.78.0.1' });
  const patches = api.writes().filter((write) => write.includes('pods'));
  // Everything between "bound" and "running" happens within a batch.
  expect(patches.length).toBeLessThanOrEqual(2);
  await stop();
});

test('a deleted pod is stopped and then removed with no grace', async () => {
  const { api, advance, stop } = await hosted();
  api.seed(POD, pod({}));
  await advance(0);
  await api.client().resource(POD, 'default').delete('web');
  await advance(0);
  await advance(1_000);
  expect(api.find(POD, 'web')).toBeUndefined();
  await stop();
});

test('a deletion that the API does not answer is tried again', async () => {
  const { api, advance, stop } = await hosted();
  api.seed(POD, pod({}));
  await advance(0);
  await api.client().resource(POD, 'default').delete('web');
  let failures = 0;
  api.intercept((request) => {
    if (request.verb !== 'delete' || (failures += 1) > 2) return;
    throw new Error('connection reset');
  });
  for (let i = 0; i < 6; i += 1) await advance(2_000);
  expect(failures).toBeGreaterThan(2);
  expect(api.find(POD, 'web')).toBeUndefined();
  await stop();
});

test('a pod that does not fit is rejected with OutOfcpu', async () => {
  const { api, advance, events, stop } = await hosted();
  const heavy = (name: string) =>
    pod({ containers: [container('app', { resources: { requests: { cpu: '3' } } })] }, { name, uid: name });
  api.seed(POD, heavy('a'));
  await advance(0);
  api.seed(POD, heavy('b'));
  await advance(0);
  expect(api.get(POD, 'b').status).toMatchObject({
    phase: 'Failed',
    reason: 'OutOfcpu',
    message:
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: 3000, capacity: 4000",
  });
  expect(events).toContain(
    "n1 b Warning OutOfcpu Node didn't have enough resource: cpu, requested: 3000, used: 3000, capacity: 4000",
  );
  await stop();
});

test('a selector that the node does not meet is asked of the API before the pod is rejected', async () => {
  const { api, advance, stop } = await hosted();
  await advance(0);
  api.edit(NODE, 'n1', (node) => (node.metadata.labels = { ...node.metadata.labels, disk: 'ssd' }), '');
  api.seed(POD, pod({ nodeSelector: { disk: 'ssd' } }));
  api.seed(POD, pod({ nodeSelector: { disk: 'tape' } }, { name: 'other', uid: 'uid-2' }));
  await advance(0);
  expect(api.get(POD, 'web').status?.phase).toBe('Running');
  expect(api.get(POD, 'other').status).toMatchObject({ phase: 'Failed', reason: 'NodeAffinity' });
  await stop();
});

test('each node reads and writes with its own identity, and watches its own pods alone', async () => {
  const { api, host, advance, stop } = await hosted({ nodes: 50 });
  api.seed(SECRET, { metadata: { name: 'key' }, data: { key: 'dg==' } });
  const env = [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'key', key: 'key' } } }];
  for (let i = 0; i < 200; i += 1) {
    const spec = { nodeName: `n${(i % 50) + 1}`, containers: [{ name: 'main', image: 'web:1', env }] };
    api.seed(POD, pod(spec, { name: `p${i}`, uid: `u${i}` }));
  }
  await advance(0);
  await advance(0);
  expect(api.list(POD).filter(({ status }) => status?.phase === 'Running')).toHaveLength(200);
  expect(host.node('n7')!.entries()).toHaveLength(4);
  const watches = api.requests.filter(({ verb, type }) => verb === 'watch' && type.plural === 'pods');
  expect(watches.map(({ userAgent, query }) => `${userAgent} ${query.get('fieldSelector')}`).sort()).toEqual(
    Array.from({ length: 50 }, (_, index) => `n${index + 1} spec.nodeName=n${index + 1}`).sort(),
  );
  const nodeOf = (name: string): string => api.find(POD, name)?.spec?.nodeName ?? name;
  const others = api.requests.filter(
    ({ verb, type, name, userAgent }) =>
      verb !== 'create' &&
      ['pods', 'nodes', 'leases'].includes(type.plural) &&
      name &&
      nodeOf(name) !== userAgent,
  );
  expect(others).toEqual([]);
  // Kept for a minute by each node that has a pod for it, and not for the others.
  const reads = api.requests
    .filter(({ type }) => type.plural === 'secrets')
    .map(({ userAgent }) => userAgent);
  expect(new Set(reads).size).toBe(50);
  await stop();
});

test('a node that was deleted comes back', async () => {
  const { api, advance, stop } = await hosted();
  await advance(0);
  api.remove(NODE, 'n1', '');
  for (let i = 0; i < 31; i += 1) await advance(10_000);
  expect(api.find(NODE, 'n1', '')).toBeDefined();
  await stop();
});

test('an API that is away while the kubelet starts is waited for', async () => {
  const { FakeApi } = await import('../client/testing/index.ts');
  const api = new FakeApi();
  let isAway = true;
  api.intercept(() => {
    if (isAway) throw new Error('connection refused');
  });
  const { advance, stop } = await hosted({ api });
  await advance(3_000);
  isAway = false;
  for (let i = 0; i < 8; i += 1) await advance(4_000);
  expect(api.find(NODE, 'n1', '')).toBeDefined();
  await stop();
});
