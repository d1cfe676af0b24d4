import {
  createHmac,
  createPrivateKey,
  generateKeyPairSync,
  sign as signBytes,
  type KeyObject,
} from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, inject, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { createAuthority, issueLeaf, loadAuthority, openAuthority } from '../../core/pki/index.ts';
import { until } from '../support/until.ts';
import { attackedApi, type AttackedApi, type Identity } from './api-client.ts';
import { untilAudited } from './audited.ts';

const NAMESPACE = 'api-credentials';
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
const data = inject('attackedData');
const DAY_MS = 24 * 60 * 60 * 1000;
/** Long enough for one request on a busy machine. */
const LIFE_MS = 20_000;

let api: AttackedApi;
beforeAll(async () => {
  api = await attackedApi(data);
  await api.json(
    { ...api.admin, method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } },
    201,
  );
});

const ADMIN = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
const namesake = openAuthority(createAuthority({ commonName: 'kubernetes', clock: systemClock }));

test.each<[string, () => Promise<Identity> | Identity]>([
  ['no certificate', () => ({})],
  [
    'a certificate of an authority that only has the same name',
    () => ({ credential: issueLeaf(namesake, { subject: ADMIN, usages: ['client'], clock: systemClock }) }),
  ],
  [
    'a certificate that is not valid yet',
    () => ({
      credential: issueLeaf(api.authority, {
        subject: ADMIN,
        usages: ['client'],
        clock: manualClock(Date.now() + 30 * DAY_MS),
      }),
    }),
  ],
  [
    'a certificate for servers',
    () => ({
      credential: issueLeaf(api.authority, { subject: ADMIN, usages: ['server'], clock: systemClock }),
    }),
  ],
  [
    "a certificate of etcd's authority",
    async () => ({
      credential: issueLeaf(await loadAuthority(data, 'etcd'), {
        subject: ADMIN,
        usages: ['client'],
        clock: systemClock,
      }),
    }),
  ],
  [
    "a certificate of the front proxy's authority",
    async () => ({
      credential: issueLeaf(await loadAuthority(data, 'front-proxy'), {
        subject: ADMIN,
        usages: ['client'],
        clock: systemClock,
      }),
    }),
  ],
])('%s is answered with 401', async (_what, identity) => {
  expect((await api.ask({ ...(await identity()), path: '/api/v1/namespaces' })).code).toBe(401);
});

test('a certificate that expires is refused from then on, also on a connection that it opened before', async () => {
  const identity: Identity = {
    credential: issueLeaf(api.authority, {
      subject: ADMIN,
      usages: ['client'],
      clock: systemClock,
      validityMs: LIFE_MS,
    }),
  };
  const code = async (): Promise<number> => (await api.ask({ ...identity, path: '/api/v1/namespaces' })).code;
  expect(await code()).toBe(200);
  await until('the certificate to expire', async () => (await code()) === 401);
});

test('headers of a front proxy count only with its certificate and its name', async () => {
  const headers = { 'x-remote-user': 'kubernetes-admin', 'x-remote-group': 'system:masters' };
  const proxies = await loadAuthority(data, 'front-proxy');
  const leaf = (commonName: string): Identity => ({
    credential: issueLeaf(proxies, { subject: { commonName }, usages: ['client'], clock: systemClock }),
  });
  const ask = async (identity: Identity) =>
    (await api.ask({ ...identity, headers, path: '/api/v1/namespaces' })).code;
  expect([
    await ask({}),
    await ask(api.identity('jane')),
    await ask(leaf('somebody-else')),
    await ask(leaf('front-proxy-client')),
  ]).toEqual([401, 403, 401, 200]);
});

type Claims = Record<string, unknown>;
const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const decoded = (part: string): Claims =>
  JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Claims;

const signed = (header: Claims, claims: Claims, key: KeyObject): string => {
  const text = `${encoded(header)}.${encoded(claims)}`;
  const isRsa = key.asymmetricKeyType === 'rsa';
  const signature = signBytes('sha256', Buffer.from(text), isRsa ? key : { key, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
};

const serviceAccountToken = async (spec: object = {}): Promise<string> => {
  const answer = await api.json(
    {
      ...api.admin,
      method: 'POST',
      path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default/token`,
      body: { spec: { expirationSeconds: 600, ...spec } },
    },
    201,
  );
  return (answer['status'] as { token: string }).token;
};

const codeOf = async (token: string): Promise<number> =>
  (await api.ask({ token, path: `/api/v1/namespaces/${NAMESPACE}/pods` })).code;

test('tokens that are forged, expired, unsigned or for somebody else are answered with 401', async () => {
  await until('the default service account', async () => {
    const path = `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/default`;
    return (await api.ask({ ...api.admin, path })).code === 200;
  });
  const token = await serviceAccountToken();
  const [head = '', body = '', signature = ''] = token.split('.');
  const [header, claims] = [decoded(head), decoded(body)];
  const system = { ...claims, sub: 'system:serviceaccount:kube-system:namespace-controller' };
  const { privateKey: foreign } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const own = createPrivateKey(readFileSync(join(data, 'pki/sa.key')));
  const publicPem = readFileSync(join(data, 'pki/sa.pub'));
  const nowSeconds = Math.floor(Date.now() / 1000);
  const hmacText = `${encoded({ ...header, alg: 'HS256' })}.${body}`;
  const forged: Readonly<Record<string, string>> = {
    'another subject under the same signature': `${head}.${encoded(system)}.${signature}`,
    'no signature': `${head}.${body}.`,
    'alg none': `${encoded({ ...header, alg: 'none' })}.${body}.`,
    'alg None with a signature': `${encoded({ ...header, alg: 'None' })}.${body}.${signature}`,
    'HMAC with the public key': `${hmacText}.${createHmac('sha256', publicPem).update(hmacText).digest('base64url')}`,
    'a foreign key under the known name': signed(header, claims, foreign),
    'a foreign key under no name': signed({ alg: 'RS256' }, claims, foreign),
    'expired, and well signed': signed(
      header,
      { ...claims, exp: nowSeconds - 3600, iat: nowSeconds - 7200 },
      own,
    ),
    'not valid yet, and well signed': signed(header, { ...claims, nbf: nowSeconds + 3600 }, own),
    'another issuer': signed(header, { ...claims, iss: 'https://elsewhere' }, own),
    'another audience': signed(header, { ...claims, aud: ['vault'] }, own),
    'an account that is not there': signed(
      header,
      { ...claims, sub: `system:serviceaccount:${NAMESPACE}:gone` },
      own,
    ),
    'the uid of an account that was there before': signed(
      header,
      {
        ...claims,
        'kubernetes.io': { namespace: NAMESPACE, serviceaccount: { name: 'default', uid: 'another' } },
      },
      own,
    ),
    garbage: 'a.b.c',
    'a lone dot': '.',
    empty: '',
    'very long': 'x'.repeat(20_000),
    'asked for another audience': await serviceAccountToken({ audiences: ['vault'] }),
  };
  const codes: Record<string, number> = {};
  for (const [what, one] of Object.entries(forged)) codes[what] = await codeOf(one);
  expect([await codeOf(token), codes]).toEqual([
    403,
    Object.fromEntries(Object.keys(forged).map((what) => [what, 401])),
  ]);
});

const bindingOf = (name: string, role: string, kind: 'Role' | 'ClusterRole' = 'ClusterRole') => ({
  metadata: { name },
  subjects: [{ kind: 'User', name: 'attack-climber', apiGroup: 'rbac.authorization.k8s.io' }],
  roleRef: { kind, name: role, apiGroup: 'rbac.authorization.k8s.io' },
});

test('anyone who may write roles and bindings cannot give away more than it has', async () => {
  const climber = api.identity('attack-climber');
  const create = (path: string, body: object, identity: Identity = api.admin) =>
    api.ask({ ...identity, method: 'POST', path, body });
  await create(`${RBAC}/clusterroles`, {
    metadata: { name: 'attack-role-writer' },
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['roles', 'rolebindings', 'clusterroles', 'clusterrolebindings'],
        verbs: ['get', 'list', 'create', 'update', 'patch', 'delete'],
      },
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] },
    ],
  });
  await create(`${RBAC}/clusterrolebindings`, bindingOf('attack-role-writer', 'attack-role-writer'));
  await until('the role to bind', async () => {
    const { code } = await api.ask({ ...climber, path: `${RBAC}/clusterroles` });
    return code === 200;
  });
  const roles = `${RBAC}/namespaces/${NAMESPACE}/roles`;
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get'] };
  const configMaps = { ...secrets, resources: ['configmaps'] };
  const codes = {
    ownRights: (await create(roles, { metadata: { name: 'own' }, rules: [configMaps] }, climber)).code,
    role: (await create(roles, { metadata: { name: 'more' }, rules: [secrets] }, climber)).code,
    everything: (
      await create(
        `${RBAC}/clusterroles`,
        { metadata: { name: 'attack-all' }, rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] },
        climber,
      )
    ).code,
    aggregation: (
      await create(
        `${RBAC}/clusterroles`,
        {
          metadata: { name: 'attack-aggregate' },
          aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
        },
        climber,
      )
    ).code,
    update: (
      await api.ask({
        ...climber,
        method: 'PUT',
        path: `${roles}/own`,
        body: { metadata: { name: 'own' }, rules: [secrets] },
      })
    ).code,
    patch: (
      await api.ask({
        ...climber,
        method: 'PATCH',
        path: `${RBAC}/clusterroles/attack-role-writer`,
        headers: { 'content-type': 'application/json-patch+json' },
        body: [{ op: 'add', path: '/rules/-', value: secrets }],
      })
    ).code,
    bindAdmin: (
      await create(`${RBAC}/clusterrolebindings`, bindingOf('attack-bind', 'cluster-admin'), climber)
    ).code,
    bindEdit: (
      await create(`${RBAC}/namespaces/${NAMESPACE}/rolebindings`, bindingOf('attack-edit', 'edit'), climber)
    ).code,
    bindOwn: (
      await create(
        `${RBAC}/namespaces/${NAMESPACE}/rolebindings`,
        bindingOf('attack-own', 'own', 'Role'),
        climber,
      )
    ).code,
  };
  expect(codes).toEqual({
    ownRights: 201,
    role: 403,
    everything: 403,
    aggregation: 403,
    update: 403,
    patch: 403,
    bindAdmin: 403,
    bindEdit: 403,
    bindOwn: 201,
  });
});

test.each([
  ['a user', { 'impersonate-user': 'system:admin' }],
  ['the administrators', { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' }],
  ['a service account', { 'impersonate-user': 'system:serviceaccount:kube-system:namespace-controller' }],
  ['a node', { 'impersonate-user': 'system:node:worker-1', 'impersonate-group': 'system:nodes' }],
  ['an extra', { 'impersonate-user': 'jane', 'impersonate-extra-scopes': 'all' }],
  ['a uid', { 'impersonate-user': 'jane', 'impersonate-uid': '1' }],
])('a user without the right to impersonate cannot impersonate %s', async (_what, headers) => {
  const nobody = api.identity('attack-impersonator');
  expect((await api.ask({ ...nobody, headers, path: '/api/v1/namespaces' })).code).toBe(403);
});

test.each([
  ['a group', { 'impersonate-group': 'system:masters' }],
  ['an extra', { 'impersonate-extra-a': 'b' }],
])('%s without a user is refused, also for an administrator', async (_what, headers) => {
  expect((await api.ask({ ...api.admin, headers, path: '/api/v1/namespaces' })).code).toBe(400);
});

test('an impersonated user has its own rights, not those of the impersonator', async () => {
  const headers = { 'impersonate-user': 'jane' };
  expect((await api.ask({ ...api.admin, headers, path: '/api/v1/secrets' })).code).toBe(403);
});

test('a service account of a namespace cannot read what another one holds', async () => {
  const token = await serviceAccountToken();
  const paths = [
    '/api/v1/secrets',
    '/api/v1/namespaces/kube-system/secrets',
    '/api/v1/namespaces/kube-system/configmaps',
    `/api/v1/namespaces/${NAMESPACE}/secrets`,
    '/api/v1/nodes',
    '/api/v1/nodes/worker-1/proxy/pods',
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    '/metrics',
    '/debug/traces',
  ];
  const codes = [];
  for (const path of paths) codes.push((await api.ask({ token, path })).code);
  expect(codes).toEqual(paths.map(() => 403));
});

test('every attempt that was denied is in the audit log', async () => {
  expect(await untilAudited(data, api.denied)).toBeGreaterThan(0);
});
