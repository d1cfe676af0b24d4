import { expect, test } from 'vitest';
import { manualClock } from '../../../../base/manual-clock.ts';
import { seededRandom } from '../../../../base/random.ts';
import type { KubernetesObject } from '../../../../api/meta/index.ts';
import type { V1PodSpec } from '../../../../api/schema/index.ts';
import { readerOf, verdict, wish } from '../../testing/fixtures.ts';
import { serviceAccount } from './service-account.ts';

const account = (name: string, rest: object = {}): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { namespace: 'ns', name },
  ...rest,
});
const pod = (spec: object = {}, annotations?: Record<string, string>): KubernetesObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { namespace: 'ns', name: 'p', ...(annotations && { annotations }) },
  spec: { containers: [{ name: 'c' }], ...spec },
});
const MIRROR = { 'kubernetes.io/config.mirror': 'x' };

const pluginOf = (cached: readonly KubernetesObject[], live: readonly KubernetesObject[] = []) =>
  serviceAccount({ reader: readerOf(cached, live), clock: manualClock(), random: seededRandom(1) });

test('a pod without an account runs as default, with the token in every container', async () => {
  const object = pod({ initContainers: [{ name: 'i' }] });
  expect(await verdict(pluginOf([account('default')]), wish({ object }))).toBe('ok');
  const spec = object['spec'] as V1PodSpec;
  const name = spec.volumes![0]!.name;
  expect(name).toMatch(/^kube-api-access-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  const mount = { name, readOnly: true, mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' };
  expect(spec).toEqual({
    serviceAccountName: 'default',
    serviceAccount: 'default',
    initContainers: [{ name: 'i', volumeMounts: [mount] }],
    containers: [{ name: 'c', volumeMounts: [mount] }],
    volumes: [
      {
        name,
        projected: {
          defaultMode: 420,
          sources: [
            { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            {
              downwardAPI: {
                items: [
                  { path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } },
                ],
              },
            },
          ],
        },
      },
    ],
  });
});

test.each([
  ['the pod says no', { automountServiceAccountToken: false }, { automountServiceAccountToken: true }, 0],
  ['the pod says yes', { automountServiceAccountToken: true }, { automountServiceAccountToken: false }, 1],
  ['the account says no', {}, { automountServiceAccountToken: false }, 0],
  [
    'every container mounts something of its own there',
    {
      containers: [
        {
          name: 'c',
          volumeMounts: [{ name: 'x', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount' }],
        },
      ],
    },
    {},
    0,
  ],
])('the token is mounted or not: %s', async (_, spec, rest, volumes) => {
  const object = pod(spec);
  await verdict(pluginOf([account('default', rest)]), wish({ object }));
  expect(((object['spec'] as V1PodSpec).volumes ?? []).length).toBe(volumes);
});

test('the pull secrets of the account are taken where the pod has none', async () => {
  const plugin = pluginOf([account('default', { imagePullSecrets: [{ name: 'a' }] })]);
  const [bare, own] = [pod(), pod({ imagePullSecrets: [{ name: 'b' }] })];
  await verdict(plugin, wish({ object: bare }));
  await verdict(plugin, wish({ object: own }));
  expect([bare, own].map((object) => (object['spec'] as V1PodSpec).imagePullSecrets)).toEqual([
    [{ name: 'a' }],
    [{ name: 'b' }],
  ]);
});

test.each([
  [
    'an account that is missing',
    pod({ serviceAccountName: 'x' }),
    'pods "p" is forbidden: error looking up service account ns/x: serviceaccount "x" not found',
  ],
  ['an account that only etcd knows yet', pod({ serviceAccountName: 'fresh' }), 'ok'],
  ['a mirror pod', pod({}, MIRROR), 'ok'],
  [
    'a mirror pod with an account',
    pod({ serviceAccountName: 'default' }, MIRROR),
    'pods "p" is forbidden: a mirror pod may not reference service accounts',
  ],
  [
    'a mirror pod with a secret',
    pod({ volumes: [{ name: 'v', secret: { secretName: 's' } }] }, MIRROR),
    'pods "p" is forbidden: a mirror pod may not reference secrets',
  ],
  [
    'a mirror pod with a token',
    pod(
      { volumes: [{ name: 'v', projected: { sources: [{ serviceAccountToken: { path: 't' } }] } }] },
      MIRROR,
    ),
    'pods "p" is forbidden: a mirror pod may not use ServiceAccountToken volume projections',
  ],
  [
    'a secret that a strict account does not list',
    pod({ serviceAccountName: 'strict', volumes: [{ name: 'v', secret: { secretName: 's' } }] }),
    'pods "p" is forbidden: volume with secret.secretName="s" is not allowed because service account strict does not reference that secret',
  ],
  [
    'a pull secret that a strict account does not list',
    pod({ serviceAccountName: 'strict', imagePullSecrets: [{ name: 's' }] }),
    'pods "p" is forbidden: imagePullSecrets[0].name="s" is not allowed because service account strict does not reference that imagePullSecret',
  ],
  [
    'a variable from a secret that a strict account does not list',
    pod({
      serviceAccountName: 'strict',
      containers: [{ name: 'c', env: [{ name: 'E', valueFrom: { secretKeyRef: { name: 's', key: 'k' } } }] }],
    }),
    'pods "p" is forbidden: container c with envVar E referencing secret.secretName="s" is not allowed because service account strict does not reference that secret',
  ],
])('%s', async (_, object, expected) => {
  const strict = account('strict');
  strict.metadata!.annotations = { 'kubernetes.io/enforce-mountable-secrets': 'true' };
  const plugin = pluginOf([account('default'), strict], [account('fresh')]);
  expect(await verdict(plugin, wish({ object }))).toBe(expected);
});

test('a mirror pod stays as it is', async () => {
  const object = pod({}, MIRROR);
  const before = structuredClone(object);
  await verdict(pluginOf([account('default')]), wish({ object }));
  expect(object).toEqual(before);
});
