import { afterEach, beforeEach, expect, test } from 'vitest';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { registryOf } from '../../../api/scheme/index.ts';
import { userInfo } from '../../server/user.ts';
import type { EscalationGuard } from '../../authz/rbac/escalation.ts';
import {
  changing,
  defaulted,
  deleting,
  NO_OPTIONS,
  refusalOf,
  scopeOf,
  storageIn,
  testRegistry,
  type TestRegistry,
} from '../testing/fixtures.ts';
import { podQosClass } from './pod-qos.ts';
import { specStrategy, statusStrategy } from './spec-status.ts';
import { partStrategyOf, strategyOf } from './strategy-of.ts';

let opened: TestRegistry;
beforeEach(() => {
  opened = testRegistry();
});
afterEach(() => opened.registry.close());

const CONTEXT = {
  user: userInfo('u'),
  namespace: 'default',
  isDryRun: false,
  nowMs: 1_700_000_000_000,
  warn() {},
};
const PARTS = { eventTtlSeconds: 3600, services: specStrategy({ hasStatus: true }) };

const withStatus = registryOf(36).resources.filter((type) =>
  type.subresources.some(({ name }) => name === 'status'),
);

test.each(withStatus.map((type) => [`${type.plural}.${type.group}`, type] as const))(
  '%s: an update leaves the status, and /status leaves the spec',
  (_name, type) => {
    const resource = { group: type.group, resource: type.plural };
    const strategy = strategyOf(resource, PARTS);
    const part = partStrategyOf(resource, 'status', strategy)!;
    const old = { metadata: { name: 'a' }, spec: { x: 1 }, status: { phase: 'old' } };
    const wanted = () => ({ metadata: { name: 'a' }, spec: { x: 2 }, status: { phase: 'new' } });
    const [update, status] = [wanted(), wanted()] as KubernetesObject[];
    strategy.prepareForUpdate?.(update!, old, CONTEXT);
    part.prepareForUpdate?.(status!, old, CONTEXT);
    expect([update!['status'], (status!['status'] as { phase: string }).phase, status!['spec']]).toEqual([
      { phase: 'old' },
      'new',
      { x: 1 },
    ]);
  },
);

test('the generation counts specs, and for deployments annotations too', () => {
  const strategy = strategyOf({ group: 'apps', resource: 'deployments' }, PARTS);
  const old = { metadata: { name: 'a', generation: 3 }, spec: { replicas: 1 }, status: {} };
  const after = (change: KubernetesObject): number | undefined => {
    const draft: KubernetesObject = { ...old, ...change, metadata: { ...old.metadata, ...change.metadata } };
    strategy.prepareForUpdate?.(draft, old, CONTEXT);
    return draft.metadata?.generation;
  };
  expect([
    after({}),
    after({ spec: { replicas: 2 } }),
    after({ metadata: { annotations: { a: 'b' } } }),
    after({ metadata: { labels: { a: 'b' } } }),
    after({ status: { replicas: 9 } }),
  ]).toEqual([3, 4, 4, 3, 3]);
});

test('labels of a deployment are not written through /status', () => {
  const part = statusStrategy({}, { statusKeeps: ['labels'] });
  const draft: KubernetesObject = {
    metadata: { labels: { a: 'new' }, annotations: { b: 'new' } },
    status: {},
  };
  part.prepareForUpdate?.(draft, { metadata: { labels: { a: 'old' } } }, CONTEXT);
  expect(draft.metadata).toEqual({ labels: { a: 'old' }, annotations: { b: 'new' } });
});

const of = (requests: object, limits: object) => ({ resources: { requests, limits } });
test.each([
  ['BestEffort', { containers: [{}] }],
  ['BestEffort', { containers: [of({ cpu: '0' }, {})] }],
  ['Burstable', { containers: [of({ cpu: '1' }, {})] }],
  ['Burstable', { containers: [of({ cpu: '1' }, { cpu: '1' })] }],
  ['Guaranteed', { containers: [of({ cpu: '1', memory: '1Gi' }, { cpu: '1000m', memory: '1024Mi' })] }],
  ['Burstable', { containers: [of({ cpu: '1', memory: '1Gi' }, { cpu: '1', memory: '1Gi' }), {}] }],
  ['Burstable', { initContainers: [{}], containers: [of({ cpu: 1, memory: 1 }, { cpu: 1, memory: 1 })] }],
  ['Guaranteed', { ...of({ cpu: 1, memory: 1 }, { cpu: 1, memory: 1 }), containers: [{}] }],
])('a pod is %s (%#)', (expected, spec) => {
  expect(podQosClass(spec as never)).toBe(expected);
});

const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };

test('a job selects its own pods by its uid', async () => {
  const jobs = storageIn(opened, 'batch', 'jobs');
  const job = defaulted({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template } });
  const { object } = await jobs.create(scopeOf(), job, NO_OPTIONS);
  const { selector, template: made } = object['spec'] as {
    selector: object;
    template: { metadata: { labels: object } };
  };
  expect([object.metadata?.generation, selector, made.metadata.labels]).toEqual([
    1,
    { matchLabels: { 'batch.kubernetes.io/controller-uid': 'uid-1' } },
    {
      'job-name': 'j',
      'batch.kubernetes.io/job-name': 'j',
      'controller-uid': 'uid-1',
      'batch.kubernetes.io/controller-uid': 'uid-1',
    },
  ]);
});

test('deleting a Job orphans its pods by default, with a warning', async () => {
  const jobs = storageIn(opened, 'batch', 'jobs');
  const warnings: string[] = [];
  const job = () =>
    defaulted({ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'j' }, spec: { template } });
  await jobs.create(scopeOf(), job(), NO_OPTIONS);
  const { held } = await jobs.delete(scopeOf('default', warnings), 'j', deleting());
  expect([held.object.metadata?.finalizers, warnings[0]?.slice(0, 54)]).toEqual([
    ['orphan'],
    'child pods are preserved by default when jobs are dele',
  ]);
});

test('the texts of a secret become its data, and its type stays', async () => {
  const secrets = storageIn(opened, '', 'secrets');
  const { object } = await secrets.create(
    scopeOf(),
    { metadata: { name: 's' }, type: 'Opaque', data: { a: 'eA==' }, stringData: { a: 'y', b: 'z' } },
    NO_OPTIONS,
  );
  const change = (type: string) =>
    secrets.update(
      scopeOf(),
      's',
      changing((now) => ({ ...now, type })),
    );
  expect([object['data'], object['stringData'], (await change('')).held.object['type']]).toEqual([
    { a: 'eQ==', b: 'eg==' },
    undefined,
    'Opaque',
  ]);
  expect(await refusalOf(change('kubernetes.io/tls'))).toContain(
    'type: Invalid value: "kubernetes.io/tls": field is immutable',
  );
});

test('the requester of a certificate is the authenticated user', async () => {
  const requests = storageIn(opened, 'certificates.k8s.io', 'certificatesigningrequests');
  const spec = {
    request: Buffer.from('-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n').toString(
      'base64',
    ),
    signerName: 'example.com/x',
    usages: ['client auth'],
    username: 'root',
    groups: ['system:masters'],
  };
  const strategy = strategyOf(
    { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' },
    PARTS,
  );
  const draft: KubernetesObject = { metadata: { name: 'c' }, spec, status: { certificate: 'x' } };
  strategy.prepareForCreate?.(draft, { ...CONTEXT, user: userInfo('jane', ['dev'], { uid: '7' }) });
  expect([typeof requests.create, draft['spec'], draft['status']]).toEqual([
    'function',
    { ...spec, username: 'jane', uid: '7', groups: ['dev'] },
    {},
  ]);
});

test('approval decides, and /status cannot', () => {
  const resource = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests' };
  const parent = strategyOf(resource, PARTS);
  const old = {
    spec: { a: 1 },
    status: {
      conditions: [{ type: 'Approved', status: 'True', lastTransitionTime: 't', lastUpdateTime: 'u' }],
    },
  };
  const draft = (): KubernetesObject => ({
    spec: { a: 2 },
    status: {
      certificate: 'cert',
      conditions: [{ type: 'Approved', status: 'True', message: 'mine' }],
    },
  });
  const [status, approval] = [draft(), draft()];
  partStrategyOf(resource, 'status', parent)?.prepareForUpdate?.(status, old, CONTEXT);
  partStrategyOf(resource, 'approval', parent)?.prepareForUpdate?.(approval, old, CONTEXT);
  expect([status, approval]).toEqual([
    { spec: { a: 1 }, status: { certificate: 'cert', conditions: old.status.conditions } },
    {
      spec: { a: 1 },
      status: {
        conditions: [
          {
            type: 'Approved',
            status: 'True',
            message: 'mine',
            lastUpdateTime: '2023-11-14T22:13:20Z',
            lastTransitionTime: 't',
          },
        ],
      },
    },
  ]);
});

test('roles and bindings are held against what their writer holds, unless only references change', async () => {
  const asked: string[] = [];
  const guard: EscalationGuard = {
    checkRole: async ({ name, wanted }) => {
      asked.push(`${name} ${wanted.length}`);
      return wanted.some(({ verbs }) => verbs.includes('*')) ? 'too much' : undefined;
    },
    checkBinding: async ({ roleRef }) => (roleRef.name === 'admin' ? 'too much' : undefined),
  };
  const registry = testRegistry({ guard });
  const roles = storageIn(registry, 'rbac.authorization.k8s.io', 'clusterroles');
  const bindings = storageIn(registry, 'rbac.authorization.k8s.io', 'rolebindings');
  const role = (verb: string) => ({
    metadata: { name: 'r' },
    rules: [{ verbs: [verb], apiGroups: [''], resources: ['pods'] }],
  });
  const binding = (name: string) => ({
    metadata: { name: 'b' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [],
  });
  await roles.create(scopeOf(''), role('get'), NO_OPTIONS);
  await roles.update(
    scopeOf(''),
    'r',
    changing((now) => ({ ...now, metadata: { ...now.metadata, finalizers: ['x/y'] } })),
  );
  const refusals = [
    await refusalOf(
      roles.update(
        scopeOf(''),
        'r',
        changing((now) => ({ ...now, rules: role('*').rules })),
      ),
    ),
    await refusalOf(bindings.create(scopeOf(), binding('admin'), NO_OPTIONS)),
    await refusalOf(bindings.create(scopeOf(), binding('view'), NO_OPTIONS)),
  ];
  registry.registry.close();
  expect([asked, refusals]).toEqual([
    ['r 1', 'r 1'],
    [
      '403 Forbidden: clusterroles.rbac.authorization.k8s.io "r" is forbidden: too much',
      '403 Forbidden: rolebindings.rbac.authorization.k8s.io "b" is forbidden: too much',
      'no error',
    ],
  ]);
});

test('a definition remembers every version that its objects were stored in', () => {
  const resource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
  const strategy = strategyOf(resource, PARTS);
  const versions = (stored: string): unknown[] =>
    ['v1', 'v2'].map((name) => ({ name, storage: name === stored }));
  const made: KubernetesObject = { metadata: { name: 'a' }, spec: { versions: versions('v1') } };
  strategy.prepareForCreate?.(made, CONTEXT);
  expect(made['status']).toEqual({ storedVersions: ['v1'] });
  const next: KubernetesObject = { metadata: { name: 'a' }, spec: { versions: versions('v2') } };
  strategy.prepareForUpdate?.(next, made, CONTEXT);
  expect(next['status']).toEqual({ storedVersions: ['v1', 'v2'] });
});

test('fields of features that are off are taken from those alone who have them', () => {
  const kept = (resource: string, group: string, spec: object, before: object = {}): unknown => {
    const strategy = strategyOf({ group, resource }, PARTS);
    const [draft, update]: KubernetesObject[] = [{ spec }, { spec }];
    strategy.prepareForCreate?.(draft!, CONTEXT);
    strategy.prepareForUpdate?.(update!, { spec: before }, CONTEXT);
    return [draft!['spec'], update!['spec']];
  };
  expect([
    kept('leases', 'coordination.k8s.io', { strategy: 's', preferredHolder: 'p' }, { strategy: 'o' }),
    kept('nodes', '', { configSource: {} }, { configSource: {} }),
  ]).toEqual([
    [{}, { strategy: 's' }],
    [{}, { configSource: {} }],
  ]);
});

test('limits without a name get one', () => {
  const draft: KubernetesObject = { metadata: { uid: 'u' } };
  strategyOf({ group: '', resource: 'limitranges' }, PARTS).prepareForCreate?.(draft, CONTEXT);
  expect(draft.metadata?.name).toBe('u');
});

test('a field of a gate that is off is dropped from a driver, unless it was stored', () => {
  const strategy = strategyOf({ group: 'storage.k8s.io', resource: 'csidrivers' }, PARTS);
  const driver = () => ({
    metadata: {},
    spec: { attachRequired: true, preventPodSchedulingIfMissing: true },
  });
  const [made, changed, kept] = [driver(), driver(), driver()];
  strategy.prepareForCreate?.(made, CONTEXT);
  strategy.prepareForUpdate?.(changed, made, CONTEXT);
  strategy.prepareForUpdate?.(kept, driver(), CONTEXT);
  expect([made.spec, changed.spec, kept.spec]).toEqual([
    { attachRequired: true },
    { attachRequired: true },
    { attachRequired: true, preventPodSchedulingIfMissing: true },
  ]);
});

test('volume sources that no kubelet projects are dropped from pods and templates, unless they were stored', () => {
  const token = { serviceAccountToken: { path: 't' } };
  const spec = (...sources: object[]) => ({ volumes: [{ name: 'v', projected: { sources } }] });
  const full = () => spec(token, { clusterTrustBundle: { path: 'b' } }, { podCertificate: { keyType: 'x' } });
  const pod: KubernetesObject = { metadata: {}, spec: full() };
  strategyOf({ group: '', resource: 'pods' }, PARTS).prepareForCreate?.(pod, CONTEXT);
  const cronJobs = strategyOf({ group: 'batch', resource: 'cronjobs' }, PARTS);
  const cronJob = (inside: object): KubernetesObject => ({
    metadata: {},
    spec: { jobTemplate: { spec: { template: { spec: inside } } } },
  });
  const [made, kept] = [cronJob(full()), cronJob(full())];
  cronJobs.prepareForCreate?.(made, CONTEXT);
  cronJobs.prepareForUpdate?.(kept, cronJob(full()), CONTEXT);
  expect([pod['spec'], made['spec'], kept['spec']]).toEqual([
    spec(token, {}, {}),
    cronJob(spec(token, {}, {}))['spec'],
    cronJob(full())['spec'],
  ]);
});

test('the number of pods of a StatefulSet that are replaced together is of a gate that is off', () => {
  const strategy = strategyOf({ group: 'apps', resource: 'statefulsets' }, PARTS);
  const spec = {
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1, maxUnavailable: 2 } },
  };
  const draft: KubernetesObject = { metadata: {}, spec };
  strategy.prepareForCreate?.(draft, CONTEXT);
  expect(draft['spec']).toEqual({
    updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 1 } },
  });
});

test('the two fields that name the source of a claim follow each other, and the old one takes two kinds', () => {
  const strategy = strategyOf({ group: '', resource: 'persistentvolumeclaims' }, PARTS);
  const made = (spec: object): unknown => {
    const draft: KubernetesObject = { metadata: {}, spec };
    strategy.prepareForCreate?.(draft, CONTEXT);
    return draft['spec'];
  };
  const claim = { kind: 'PersistentVolumeClaim', name: 'c' };
  const populator = { apiGroup: 'x.y', kind: 'Populator', name: 'p' };
  expect(made({ dataSource: claim })).toEqual({ dataSource: claim, dataSourceRef: claim });
  expect(made({ dataSourceRef: populator })).toEqual({ dataSource: populator, dataSourceRef: populator });
  expect(made({ dataSource: populator })).toEqual({});
  const elsewhere = { ...populator, namespace: 'n' };
  expect(made({ dataSourceRef: elsewhere })).toEqual({ dataSourceRef: elsewhere });
});
