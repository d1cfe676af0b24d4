import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { isNotFound } from '../../core/api/meta/index.ts';
import type { Client } from '../../core/client/index.ts';
import { createRequest, generateKey, inspectPem } from '../../core/pki/index.ts';
import { startManagedCluster, type ManagedCluster } from '../support/managed-cluster.ts';
import { until } from '../support/until.ts';

/**
 * Every controller through real API servers: what each is for is declared all at the same time, the controller-manager is killed
 * again and again meanwhile, and in the end everything is as declared and nothing was done twice.
 */
const SEED = Number(process.env['PILOTHOUSE_SEED'] ?? Date.now() % 1_000_000);
const KILLS = 6;
const KILL_PAUSE_MS_MAX = 1_500;
/** The pod collector lets a node be absent this long before its pods go. */
const ORPHAN_LIMIT_MS = 120_000;

interface Thing {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
    readonly finalizers?: readonly string[];
    readonly deletionTimestamp?: string;
    readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[];
  };
  readonly spec?: Record<string, never> & { readonly nodeName?: string; readonly podCIDR?: string };
  readonly status?: Record<string, unknown>;
  readonly data?: Record<string, string>;
}

let cluster: ManagedCluster;
let client: Client;

const get = async <T = Thing>(path: string): Promise<T | undefined> => {
  try {
    return await client.json<T>({ method: 'GET', path });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
};
const list = async (path: string): Promise<readonly Thing[]> =>
  (await client.json<{ items: Thing[] }>({ method: 'GET', path })).items;
const post = (path: string, body: unknown): Promise<Thing> =>
  client.json<Thing>({ method: 'POST', path, body });
const remove = (path: string): Promise<unknown> => client.json({ method: 'DELETE', path });
const patch = (path: string, body: unknown): Promise<Thing> =>
  client.json<Thing>({ method: 'PATCH', path, body, contentType: 'application/merge-patch+json' });

const core = (namespace: string, plural: string, name = ''): string =>
  `/api/v1/namespaces/${namespace}/${plural}${name && `/${name}`}`;
const apps = (namespace: string, plural: string, name = ''): string =>
  `/apis/apps/v1/namespaces/${namespace}/${plural}${name && `/${name}`}`;
const batch = (namespace: string, plural: string, name = ''): string =>
  `/apis/batch/v1/namespaces/${namespace}/${plural}${name && `/${name}`}`;

const pods = (namespace: string): Promise<readonly Thing[]> => list(core(namespace, 'pods'));
const container = { name: 'c', image: 'c:1', ports: [{ containerPort: 8080 }] };
const template = (app: string, annotations: Record<string, string> = {}) => ({
  metadata: { labels: { app }, annotations },
  spec: { containers: [container] },
});
const workload = (app: string, spec: Record<string, unknown> = {}) => ({
  metadata: { name: app },
  spec: { selector: { matchLabels: { app } }, template: template(app), ...spec },
});
const ENDS = { 'simulation.pilothouse.dev/exit-after': '100ms' };
const jobTemplate = (app: string) => {
  const { metadata, spec } = template(app, ENDS);
  return { metadata, spec: { ...spec, restartPolicy: 'Never' } };
};

const inNamespace = async (name: string, fill: (namespace: string) => Promise<unknown>): Promise<void> => {
  await post('/api/v1/namespaces', { metadata: { name } });
  await until(`the account of ${name}`, () => get(core(name, 'serviceaccounts', 'default')));
  await fill(name);
};

const volume = (name: string) => ({
  metadata: { name },
  spec: {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'manual',
    persistentVolumeReclaimPolicy: 'Retain',
    hostPath: { path: `/volumes/${name}` },
  },
});
const claim = (name: string) => ({
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: 'manual',
    resources: { requests: { storage: '1Gi' } },
  },
});

const nodePaths = (name: string): string => `/api/v1/nodes/${name}`;

/** What is declared, one controller or a pair of them each. */
const DECLARED: Readonly<Record<string, (namespace: string) => Promise<unknown>>> = {
  rc: (ns) =>
    post(core(ns, 'replicationcontrollers'), {
      metadata: { name: 'rc' },
      spec: { replicas: 3, selector: { app: 'rc' }, template: template('rc') },
    }),
  deploy: (ns) => post(apps(ns, 'deployments'), workload('deploy', { replicas: 4 })),
  stateful: (ns) =>
    post(apps(ns, 'statefulsets'), workload('stateful', { replicas: 3, serviceName: 'stateful' })),
  daemon: (ns) => post(apps(ns, 'daemonsets'), workload('daemon')),
  job: (ns) =>
    post(batch(ns, 'jobs'), {
      metadata: { name: 'job' },
      spec: { completions: 4, parallelism: 2, completionMode: 'Indexed', template: jobTemplate('job') },
    }),
  ttl: (ns) =>
    post(batch(ns, 'jobs'), {
      metadata: { name: 'short' },
      spec: { ttlSecondsAfterFinished: 0, template: jobTemplate('short') },
    }),
  cron: async (ns) => {
    await post(batch(ns, 'cronjobs'), {
      metadata: { name: 'cron' },
      spec: {
        schedule: '*/30 * * * *',
        jobTemplate: { spec: { template: jobTemplate('cron') } },
      },
    });
    // As one that has missed its last time.
    const lastScheduleTime = new Date(Date.now() - 3_600_000).toISOString().replace(/\.\d+/, '');
    await patch(`${batch(ns, 'cronjobs', 'cron')}/status`, { status: { lastScheduleTime } });
  },
  service: async (ns) => {
    await post(apps(ns, 'replicasets'), workload('service', { replicas: 2 }));
    await post(core(ns, 'services'), {
      metadata: { name: 'service' },
      spec: { selector: { app: 'service' }, ports: [{ port: 80, targetPort: 8080 }] },
    });
  },
  mirror: async (ns) => {
    await post(core(ns, 'services'), { metadata: { name: 'mirror' }, spec: { ports: [{ port: 80 }] } });
    await post(core(ns, 'endpoints'), {
      metadata: { name: 'mirror' },
      subsets: [{ addresses: [{ ip: '203.0.113.7' }], ports: [{ port: 80 }] }],
    });
  },
  token: (ns) =>
    post(core(ns, 'secrets'), {
      metadata: { name: 'token', annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type: 'kubernetes.io/service-account-token',
    }),
  roots: async (ns) => {
    await until('the authority', () => get(core(ns, 'configmaps', 'kube-root-ca.crt')));
    await remove(core(ns, 'configmaps', 'kube-root-ca.crt'));
    await remove(core(ns, 'serviceaccounts', 'default'));
  },
  owned: async (ns) => {
    const owner = await post(core(ns, 'configmaps'), { metadata: { name: 'owner' } });
    const { uid } = owner.metadata;
    await post(core(ns, 'configmaps'), {
      metadata: {
        name: 'owned',
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }],
      },
    });
    await remove(core(ns, 'configmaps', 'owner'));
  },
  quota: async (ns) => {
    await post(core(ns, 'resourcequotas'), {
      metadata: { name: 'quota' },
      spec: { hard: { 'count/configmaps': '10' } },
    });
    await post(core(ns, 'configmaps'), { metadata: { name: 'counted' } });
  },
  volumes: async (ns) => {
    await post('/api/v1/persistentvolumes', volume('one'));
    await post(core(ns, 'persistentvolumeclaims'), claim('one'));
    await post(core(ns, 'pods'), {
      metadata: { name: 'user' },
      spec: {
        containers: [{ ...container, volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
        volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'one' } }],
      },
    });
  },
  budget: async (ns) => {
    await post(apps(ns, 'replicasets'), workload('budget', { replicas: 3 }));
    await post(`/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`, {
      metadata: { name: 'budget' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'budget' } } },
    });
  },
  full: async (ns) => {
    await post(apps(ns, 'deployments'), workload('full', { replicas: 2 }));
    await post(core(ns, 'secrets'), { metadata: { name: 'inside' } });
    await remove(`/api/v1/namespaces/${ns}`);
  },
  evicted: async (ns) => {
    await post('/api/v1/nodes', {
      metadata: { name: 'bare' },
      spec: { taints: [{ key: 'example.com/out', effect: 'NoExecute' }] },
    });
    await post(core(ns, 'pods'), {
      metadata: { name: 'intolerant' },
      spec: { nodeName: 'bare', containers: [container] },
    });
  },
  orphan: async (ns) => {
    await post('/api/v1/nodes', { metadata: { name: 'lost' } });
    await post(core(ns, 'pods'), {
      metadata: { name: 'orphan' },
      spec: {
        nodeName: 'lost',
        containers: [container],
        tolerations: [{ operator: 'Exists' }],
      },
    });
    await remove(nodePaths('lost'));
  },
};

const declareRequest = async (): Promise<void> => {
  const request = createRequest(generateKey(), {
    subject: { commonName: 'someone', organizations: ['people'] },
  });
  await post('/apis/certificates.k8s.io/v1/certificatesigningrequests', {
    metadata: { name: 'someone' },
    spec: {
      request: Buffer.from(request).toString('base64'),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['client auth'],
    },
  });
  await patch('/apis/certificates.k8s.io/v1/certificatesigningrequests/someone/approval', {
    status: { conditions: [{ type: 'Approved', status: 'True', reason: 'Test', message: 'approved' }] },
  });
};

const declareRoles = async (): Promise<void> => {
  await post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'part', labels: { 'example.com/in': 'whole' } },
    rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
  });
  await post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    metadata: { name: 'whole' },
    aggregationRule: { clusterRoleSelectors: [{ matchLabels: { 'example.com/in': 'whole' } }] },
    rules: [],
  });
};

beforeAll(async () => {
  console.log(`seed ${SEED}`);
  cluster = await startManagedCluster({ octet: 115, nodes: 2 });
  client = cluster.managers.client();
  cluster.managers.start({ name: 'kube-scheduler' });
  const start = () =>
    cluster.managers.start({
      name: 'kube-controller-manager',
      flags: ['--leader-elect=false', '--secure-port=0', '--node-startup-grace-period=5s'],
    });
  let manager = start();
  const random = seededRandom(SEED);
  const killing = (async () => {
    for (let kill = 0; kill < KILLS; kill += 1) {
      await new Promise((resolve) => setTimeout(resolve, 300 + random.below(KILL_PAUSE_MS_MAX)));
      await manager.kill('SIGKILL');
      manager = start();
    }
  })();
  await Promise.all([
    ...Object.entries(DECLARED).map(([name, fill]) => inNamespace(name, fill)),
    declareRequest(),
    declareRoles(),
    killing,
  ]);
});

afterAll(() => cluster?.close());

const numbers = (thing: Thing | undefined, ...names: string[]): unknown[] =>
  names.map((name) => thing?.status?.[name]);

/** Waits for the figures, and then looks that exactly those pods are there. */
const settles = async (path: string, names: string[], wanted: unknown[], count: number): Promise<void> => {
  await until(`${path} to settle`, async () => {
    const found = numbers(await get(path), ...names);
    return JSON.stringify(found) === JSON.stringify(wanted);
  });
  const namespace = path.split('/namespaces/')[1]!.split('/')[0]!;
  const living = (await pods(namespace)).filter(({ metadata }) => !metadata.deletionTimestamp);
  expect(living.length).toBe(count);
  expect(living.every(({ metadata }) => metadata.ownerReferences?.[0]?.controller)).toBe(true);
};

test('replicationcontroller', () =>
  settles(core('rc', 'replicationcontrollers', 'rc'), ['replicas', 'readyReplicas'], [3, 3], 3));

test('deployment and replicaset', async () => {
  await settles(apps('deploy', 'deployments', 'deploy'), ['replicas', 'availableReplicas'], [4, 4], 4);
  expect((await list(apps('deploy', 'replicasets'))).length).toBe(1);
});

test('statefulset: in order, each with its name', async () => {
  await settles(apps('stateful', 'statefulsets', 'stateful'), ['replicas', 'readyReplicas'], [3, 3], 3);
  expect((await pods('stateful')).map(({ metadata }) => metadata.name).sort()).toEqual([
    'stateful-0',
    'stateful-1',
    'stateful-2',
  ]);
});

test('daemonset: one on each node that runs pods', async () => {
  await settles(apps('daemon', 'daemonsets', 'daemon'), ['numberReady'], [2], 2);
  expect((await pods('daemon')).map(({ spec }) => spec?.nodeName).sort()).toEqual(['n1', 'n2']);
});

test('job: every index once', async () => {
  await settles(batch('job', 'jobs', 'job'), ['succeeded', 'completedIndexes'], [4, '0-3'], 4);
  const index = 'batch.kubernetes.io/job-completion-index';
  const indexes = (await pods('job')).map(({ metadata }) => metadata.annotations?.[index]);
  expect(indexes.sort()).toEqual(['0', '1', '2', '3']);
  // An index counts as soon as its pod has ended; the pod is let go after that was written.
  await until('no finalizer', async () =>
    (await pods('job')).every(({ metadata }) => (metadata.finalizers ?? []).length === 0),
  );
});

test('ttl-after-finished', async () => {
  await until('the end of the job', async () => (await get(batch('ttl', 'jobs', 'short'))) === undefined);
  await until('the end of its pod', async () => (await pods('ttl')).length === 0);
});

test('cronjob: a missed time is caught up on once', async () => {
  await until('the job', async () => {
    const jobs = await list(batch('cron', 'jobs'));
    return jobs.length > 0 && jobs.every(({ status }) => status?.['succeeded'] === 1);
  });
  expect((await list(batch('cron', 'jobs'))).length).toBe(1);
});

test('endpoints and endpointslice', async () => {
  await until('two addresses in both', async () => {
    const endpoints = await get<{ subsets?: { addresses?: unknown[] }[] }>(
      core('service', 'endpoints', 'service'),
    );
    const slices = await client.json<{ items: { endpoints: { conditions: { ready: boolean } }[] }[] }>({
      method: 'GET',
      path: '/apis/discovery.k8s.io/v1/namespaces/service/endpointslices',
    });
    const ready = slices.items.flatMap((slice) => slice.endpoints).filter((one) => one.conditions.ready);
    return (
      slices.items.length === 1 && ready.length === 2 && endpoints?.subsets?.[0]?.addresses?.length === 2
    );
  });
});

test('endpointslicemirroring: endpoints of a person have a slice', async () => {
  await until('the slice', async () => {
    const slices = await list('/apis/discovery.k8s.io/v1/namespaces/mirror/endpointslices');
    return slices.length === 1 && JSON.stringify(slices[0]).includes('203.0.113.7');
  });
});

test('serviceaccount-token: a secret gets a token that is accepted', async () => {
  const { data } = await until('the token', async () => {
    const secret = await get(core('token', 'secrets', 'token'));
    return secret?.data?.['token'] !== undefined && secret;
  });
  expect(Object.keys(data!).sort()).toEqual(['ca.crt', 'namespace', 'token']);
  const review = await client.json<{ status: { authenticated?: boolean; user?: { username: string } } }>({
    method: 'POST',
    path: '/apis/authentication.k8s.io/v1/tokenreviews',
    body: {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token: Buffer.from(data!['token']!, 'base64').toString() },
    },
  });
  expect(review.status.user?.username).toBe('system:serviceaccount:token:default');
});

test('serviceaccount and root-ca-publisher: what was deleted comes back', async () => {
  await until('the account', () => get(core('roots', 'serviceaccounts', 'default')));
  const roots = await until<Thing>('the authority', () =>
    get(core('roots', 'configmaps', 'kube-root-ca.crt')),
  );
  expect(roots.data?.['ca.crt']).toContain('BEGIN CERTIFICATE');
});

test('garbage-collector', () =>
  until(
    'the end of what was owned',
    async () => (await get(core('owned', 'configmaps', 'owned'))) === undefined,
  ));

test('resourcequota: what is used is counted', () =>
  until('two config maps, with the authority', async () => {
    const quota = await get<{ status?: { used?: Record<string, string> } }>(
      core('quota', 'resourcequotas', 'quota'),
    );
    return quota?.status?.used?.['count/configmaps'] === '2';
  }));

test('persistentvolume-binder and protection: bound once, kept while used', async () => {
  const path = core('volumes', 'persistentvolumeclaims', 'one');
  await until('the claim', async () => (await get(path))?.status?.['phase'] === 'Bound');
  await until('the pod', async () => (await pods('volumes'))[0]?.status?.['phase'] === 'Running');
  expect((await get('/api/v1/persistentvolumes/one'))?.status?.['phase']).toBe('Bound');
  await remove(path);
  await remove('/api/v1/persistentvolumes/one');
  expect((await get(path))?.metadata.finalizers).toEqual(['kubernetes.io/pvc-protection']);
  expect((await get('/api/v1/persistentvolumes/one'))?.metadata.finalizers).toEqual([
    'kubernetes.io/pv-protection',
  ]);
  await remove(core('volumes', 'pods', 'user'));
  await until('the end of the claim', async () => (await get(path)) === undefined);
  await until(
    'the end of the volume',
    async () => (await get('/api/v1/persistentvolumes/one')) === undefined,
  );
});

test('disruption: as many may go as the budget leaves', () =>
  until('the budget', async () => {
    const budget = await get('/apis/policy/v1/namespaces/budget/poddisruptionbudgets/budget');
    const found = numbers(budget, 'currentHealthy', 'desiredHealthy', 'disruptionsAllowed');
    return JSON.stringify(found) === '[3,2,1]';
  }));

test('namespace: goes with everything in it', () =>
  until('the end of the namespace', async () => (await get('/api/v1/namespaces/full')) === undefined));

test('certificatesigningrequest: what is approved is signed', async () => {
  const { status } = await until('the certificate', async () => {
    const path = '/apis/certificates.k8s.io/v1/certificatesigningrequests/someone';
    const request = await get<{ status?: { certificate?: string } }>(path);
    return request?.status?.certificate !== undefined && request;
  });
  const certificate = inspectPem(Buffer.from(status!.certificate!, 'base64').toString());
  expect(certificate.subject).toMatchObject({ commonName: 'someone', organizations: ['people'] });
});

test('clusterrole-aggregation', () =>
  until('the rule of the part in the whole', async () => {
    const role = await get<{ rules: unknown[] }>('/apis/rbac.authorization.k8s.io/v1/clusterroles/whole');
    return role?.rules.length === 1;
  }));

test('node-ipam and ttl: a node has a range of its own and says how long things may be kept', async () => {
  const nodes = await until('the ranges', async () => {
    const found = await list('/api/v1/nodes');
    return found.every(({ spec }) => spec?.podCIDR !== undefined) && found;
  });
  expect(new Set(nodes.map(({ spec }) => spec?.podCIDR)).size).toBe(nodes.length);
  expect(nodes.map(({ metadata }) => metadata.annotations?.['node.alpha.kubernetes.io/ttl'])).toEqual(
    nodes.map(() => '0'),
  );
});

test('taint-eviction: a pod leaves a node that it does not tolerate', () =>
  until(
    'the end of the pod',
    async () => (await get(core('evicted', 'pods', 'intolerant')))?.metadata.deletionTimestamp !== undefined,
  ));

test('node-lifecycle: a node that never spoke is unreachable', () =>
  until('the taint', async () => {
    const node = await get<{ spec: { taints?: { key: string }[] } }>(nodePaths('bare'));
    return node?.spec.taints?.some(({ key }) => key === 'node.kubernetes.io/unreachable');
  }));

test('pod-garbage-collector: a pod of a node that is gone goes', () =>
  until(
    'the end of the orphan',
    async () => (await get(core('orphan', 'pods', 'orphan'))) === undefined,
    ORPHAN_LIMIT_MS,
  ));
