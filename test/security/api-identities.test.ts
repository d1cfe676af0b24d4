import { beforeAll, expect, inject, test } from 'vitest';
import { until } from '../support/until.ts';
import { attackedApi, type AttackedApi } from './api-client.ts';
import { untilAudited } from './audited.ts';

const NAMESPACE = 'api-identities';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';

/**
 * What is asked: `verb resource.group/subresource scope name`. The scope is this file's namespace (`here`), the system's
 * (`system`), or the whole cluster (`all`).
 */
const QUESTIONS = [
  ...['get pods here', 'list pods all', 'create pods here', 'delete pods here', 'create pods/exec here'],
  ...[
    'get pods/log here',
    'create pods/binding here',
    'update pods/status here',
    'create pods/eviction here',
  ],
  ...[
    'get secrets here',
    'list secrets all',
    'list secrets system',
    'create secrets here',
    'delete secrets system',
  ],
  ...[
    'get configmaps here',
    'list configmaps all',
    'update configmaps system extension-apiserver-authentication',
  ],
  ...['get nodes all worker-1', 'get nodes all worker-2', 'list nodes all', 'update nodes all worker-1'],
  ...['patch nodes/status all worker-1', 'get nodes/proxy all worker-1', 'delete nodes all worker-1'],
  ...['list namespaces all', 'create namespaces all', 'list services all', 'update services/status here'],
  ...['get serviceaccounts here', 'create serviceaccounts/token here', 'create events here'],
  ...[
    'list endpointslices.discovery.k8s.io all',
    'update deployments.apps here',
    'create replicasets.apps here',
  ],
  ...['update deployments.apps/status here', 'delete persistentvolumes all', 'create jobs.batch here'],
  ...[
    'create tokenreviews.authentication.k8s.io all',
    'create subjectaccessreviews.authorization.k8s.io all',
  ],
  ...[
    'create selfsubjectaccessreviews.authorization.k8s.io all',
    'create certificatesigningrequests.certificates.k8s.io all',
  ],
  ...['approve signers.certificates.k8s.io all kubernetes.io/kube-apiserver-client'],
  ...[
    'update leases.coordination.k8s.io system kube-scheduler',
    'update leases.coordination.k8s.io system kube-controller-manager',
  ],
  ...[
    'create rolebindings.rbac.authorization.k8s.io here',
    'create clusterrolebindings.rbac.authorization.k8s.io all',
  ],
  ...[
    'bind clusterroles.rbac.authorization.k8s.io all cluster-admin',
    'escalate clusterroles.rbac.authorization.k8s.io all',
  ],
  ...[
    'impersonate users all system:admin',
    'impersonate groups all system:masters',
    'impersonate serviceaccounts here',
  ],
  ...['get /healthz', 'get /version', 'get /metrics', 'get /openapi/v2', 'get /logs', 'post /api'],
] as const;
type Question = (typeof QUESTIONS)[number];

const EVERYONE: readonly Question[] = ['get /healthz', 'get /version'];
const AUTHENTICATED: readonly Question[] = [
  ...EVERYONE,
  'get /openapi/v2',
  'create selfsubjectaccessreviews.authorization.k8s.io all',
];
const VIEW: readonly Question[] = [
  'get pods here',
  'get pods/log here',
  'get configmaps here',
  'get serviceaccounts here',
];
const EDIT: readonly Question[] = [
  ...VIEW,
  ...([
    'create pods here',
    'delete pods here',
    'create pods/exec here',
    'create pods/eviction here',
  ] as const),
  ...([
    'get secrets here',
    'create secrets here',
    'create serviceaccounts/token here',
    'create events here',
  ] as const),
  ...(['update deployments.apps here', 'create replicasets.apps here', 'create jobs.batch here'] as const),
  'impersonate serviceaccounts here',
];

/** Upstream lets either update every lease of the system. */
const LEADER_LOCKS: readonly Question[] = [
  'update leases.coordination.k8s.io system kube-scheduler',
  'update leases.coordination.k8s.io system kube-controller-manager',
];

interface Subject {
  readonly user: string;
  readonly groups?: readonly string[];
  readonly may: readonly Question[];
}

const account = (namespace: string, name: string, may: readonly Question[]): Subject => ({
  user: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:authenticated', 'system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  may: [...AUTHENTICATED, ...may],
});

/** From upstream's bootstrap policy and Node authorizer: what is not listed must be denied. */
const SUBJECTS: Readonly<Record<string, Subject>> = {
  'system:masters': { user: 'root', groups: ['system:masters', 'system:authenticated'], may: QUESTIONS },
  'a cluster administrator': {
    user: 'kubernetes-admin',
    groups: ['kubeadm:cluster-admins', 'system:authenticated'],
    may: QUESTIONS,
  },
  nobody: { user: 'system:anonymous', groups: ['system:unauthenticated'], may: EVERYONE },
  'a user without roles': { user: 'jane', groups: ['system:authenticated'], may: AUTHENTICATED },
  'a user who calls itself an administrator': {
    user: 'system:masters',
    groups: ['cluster-admin', 'system:authenticated'],
    may: AUTHENTICATED,
  },
  'the monitoring group': {
    user: 'prometheus',
    groups: ['system:monitoring', 'system:authenticated'],
    may: [...AUTHENTICATED, 'get /metrics'],
  },
  'the scheduler': {
    user: 'system:kube-scheduler',
    groups: ['system:authenticated'],
    may: [
      ...AUTHENTICATED,
      ...(['get pods here', 'list pods all', 'delete pods here', 'create pods/binding here'] as const),
      ...([
        'update pods/status here',
        'get nodes all worker-1',
        'get nodes all worker-2',
        'list nodes all',
      ] as const),
      ...(['list namespaces all', 'list services all', 'create events here'] as const),
      'create tokenreviews.authentication.k8s.io all',
      'create subjectaccessreviews.authorization.k8s.io all',
      ...LEADER_LOCKS,
    ],
  },
  'the controller-manager': {
    user: 'system:kube-controller-manager',
    groups: ['system:authenticated'],
    may: [
      ...AUTHENTICATED,
      ...(['list pods all', 'get secrets here', 'list secrets all', 'list secrets system'] as const),
      ...([
        'create secrets here',
        'delete secrets system',
        'get configmaps here',
        'list configmaps all',
      ] as const),
      ...(['list nodes all', 'list namespaces all', 'list services all', 'create events here'] as const),
      ...(['get serviceaccounts here', 'create serviceaccounts/token here'] as const),
      'list endpointslices.discovery.k8s.io all',
      'create tokenreviews.authentication.k8s.io all',
      'create subjectaccessreviews.authorization.k8s.io all',
      ...LEADER_LOCKS,
    ],
  },
  'kube-proxy': {
    user: 'system:kube-proxy',
    groups: ['system:authenticated'],
    may: [
      ...AUTHENTICATED,
      ...(['get nodes all worker-1', 'get nodes all worker-2', 'list nodes all'] as const),
      ...(['list services all', 'list endpointslices.discovery.k8s.io all', 'create events here'] as const),
    ],
  },
  'kube-dns': {
    user: 'system:kube-dns',
    groups: ['system:authenticated'],
    may: [
      ...AUTHENTICATED,
      ...(['list namespaces all', 'list services all', 'list endpointslices.discovery.k8s.io all'] as const),
    ],
  },
  'the policy agent of hosts': {
    user: 'system:network-policy',
    groups: ['system:authenticated'],
    may: [
      ...AUTHENTICATED,
      ...(['list pods all', 'list namespaces all', 'list nodes all'] as const),
      ...(['list services all', 'list endpointslices.discovery.k8s.io all'] as const),
    ],
  },
  'the node worker-1': {
    user: 'system:node:worker-1',
    groups: ['system:nodes', 'system:authenticated'],
    may: [
      ...AUTHENTICATED,
      ...([
        'create pods here',
        'delete pods here',
        'update pods/status here',
        'create pods/eviction here',
      ] as const),
      ...([
        'get nodes all worker-1',
        'update nodes all worker-1',
        'patch nodes/status all worker-1',
      ] as const),
      ...(['list services all', 'create events here'] as const),
      'create tokenreviews.authentication.k8s.io all',
      'create subjectaccessreviews.authorization.k8s.io all',
      'create certificatesigningrequests.certificates.k8s.io all',
    ],
  },
  'a member of system:nodes that is no node': {
    user: 'worker-1',
    groups: ['system:nodes', 'system:authenticated'],
    may: AUTHENTICATED,
  },
  'a name of a node outside of its group': {
    user: 'system:node:worker-1',
    groups: ['system:authenticated'],
    may: AUTHENTICATED,
  },
  'the default service account': account(NAMESPACE, 'default', []),
  'the default service account of the system': account('kube-system', 'default', []),
  'the deployment controller': account('kube-system', 'deployment-controller', [
    ...(['get pods here', 'list pods all', 'create events here'] as const),
    ...([
      'update deployments.apps here',
      'update deployments.apps/status here',
      'create replicasets.apps here',
    ] as const),
  ]),
  'an account that takes the name of a controller elsewhere': account(NAMESPACE, 'deployment-controller', []),
  // Its role reads and deletes `*`, which are subresources, too.
  'the namespace controller': account('kube-system', 'namespace-controller', [
    ...(['get pods/log here', 'get nodes/proxy all worker-1'] as const),
    ...(['list namespaces all', 'list pods all', 'list secrets all', 'list secrets system'] as const),
    ...(['get pods here', 'get secrets here', 'get configmaps here', 'list configmaps all'] as const),
    ...(['delete pods here', 'delete secrets system', 'get serviceaccounts here', 'list nodes all'] as const),
    ...(['get nodes all worker-1', 'get nodes all worker-2', 'delete nodes all worker-1'] as const),
    ...([
      'list services all',
      'list endpointslices.discovery.k8s.io all',
      'delete persistentvolumes all',
    ] as const),
  ]),
  'a viewer here': {
    user: 'attack-view',
    groups: ['system:authenticated'],
    may: [...AUTHENTICATED, ...VIEW],
  },
  'an editor here': {
    user: 'attack-edit',
    groups: ['system:authenticated'],
    may: [...AUTHENTICATED, ...EDIT],
  },
  'an administrator here': {
    user: 'attack-admin',
    groups: ['system:authenticated'],
    may: [...AUTHENTICATED, ...EDIT, 'create rolebindings.rbac.authorization.k8s.io here'],
  },
};

const NAMESPACES: Readonly<Record<string, string>> = { here: NAMESPACE, system: 'kube-system', all: '' };

const attributesOf = (question: Question): object => {
  const [verb = '', what = '', scope = '', name = ''] = question.split(' ');
  if (what.startsWith('/')) return { nonResourceAttributes: { verb, path: what } };
  const [names = '', subresource = ''] = what.split('/');
  const [resource = '', ...group] = names.split('.');
  return {
    resourceAttributes: {
      verb,
      group: group.join('.'),
      resource,
      subresource,
      namespace: NAMESPACES[scope],
      name,
    },
  };
};

let api: AttackedApi;

const isAllowed = async ({ user, groups = [] }: Subject, question: Question): Promise<boolean> => {
  const answer = await api.json(
    {
      ...api.admin,
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: { spec: { user, groups, ...attributesOf(question) } },
    },
    201,
  );
  return (answer['status'] as { allowed: boolean }).allowed;
};

beforeAll(async () => {
  api = await attackedApi(inject('attackedData'));
  const create = (path: string, body: object) => api.json({ ...api.admin, method: 'POST', path, body }, 201);
  await create('/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  for (const role of ['view', 'edit', 'admin'])
    await create(`${RBAC}/namespaces/${NAMESPACE}/rolebindings`, {
      metadata: { name: role },
      subjects: [{ kind: 'User', name: `attack-${role}`, apiGroup: 'rbac.authorization.k8s.io' }],
      roleRef: { kind: 'ClusterRole', name: role, apiGroup: 'rbac.authorization.k8s.io' },
    });
  await until('the bindings to be known', () =>
    isAllowed(SUBJECTS['an administrator here']!, 'create rolebindings.rbac.authorization.k8s.io here'),
  );
});

test.each(Object.entries(SUBJECTS))(
  '%s may do what upstream lets it, and nothing else',
  async (_who, subject) => {
    const answers = await Promise.all(QUESTIONS.map((question) => isAllowed(subject, question)));
    const allowed = QUESTIONS.filter((_question, at) => answers[at]);
    expect(allowed).toEqual(QUESTIONS.filter((question) => subject.may.includes(question)));
  },
);

const REAL: readonly (readonly [method: string, path: string, question: Question])[] = [
  ['GET', '/api/v1/pods', 'list pods all'],
  ['GET', '/api/v1/secrets', 'list secrets all'],
  ['GET', '/api/v1/nodes', 'list nodes all'],
  ['GET', '/api/v1/nodes/worker-1', 'get nodes all worker-1'],
  ['GET', '/api/v1/nodes/worker-2', 'get nodes all worker-2'],
  ['GET', '/api/v1/nodes/worker-1/proxy/pods', 'get nodes/proxy all worker-1'],
  ['GET', '/api/v1/namespaces', 'list namespaces all'],
  ['GET', '/version', 'get /version'],
  ['GET', '/metrics', 'get /metrics'],
];

/** Certificates carry what SubjectAccessReviews only claim. */
test.each([
  ['a user without roles', 'jane', []],
  ['a user who calls itself an administrator', 'system:masters', ['cluster-admin']],
  ['the scheduler', 'system:kube-scheduler', []],
  ['the controller-manager', 'system:kube-controller-manager', []],
  ['kube-proxy', 'system:kube-proxy', []],
  ['kube-dns', 'system:kube-dns', []],
  ['the node worker-1', 'system:node:worker-1', ['system:nodes']],
  ['a member of system:nodes that is no node', 'worker-1', ['system:nodes']],
  ['a name of a node outside of its group', 'system:node:worker-1', []],
])('requests of %s are answered as its reviews are', async (who, name, organizations) => {
  const identity = api.identity(name, organizations);
  const served = [];
  for (const [method, path] of REAL) served.push((await api.ask({ ...identity, method, path })).code !== 403);
  expect(served).toEqual(REAL.map(([, , question]) => SUBJECTS[who]!.may.includes(question)));
});

test('every attempt that was denied is in the audit log', async () => {
  expect(await untilAudited(inject('attackedData'), api.denied)).toBeGreaterThan(0);
});
