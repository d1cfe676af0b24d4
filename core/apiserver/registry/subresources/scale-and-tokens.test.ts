import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { systemClock } from '../../../base/node/clock.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { createTokenSigner } from '../../authn/service-account-tokens.ts';
import { parseJwt } from '../../authn/jwt.ts';
import {
  changing,
  defaulted,
  NO_OPTIONS,
  podOf,
  refusalOf,
  scopeOf,
  storageIn,
  testRegistry,
} from '../testing/fixtures.ts';

const deployment = (): KubernetesObject =>
  defaulted({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'd' },
    spec: {
      replicas: 2,
      selector: { matchLabels: { app: 'd' } },
      template: { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });

test('scale reads and writes the replicas of its parent, and a stale one conflicts', async () => {
  const opened = testRegistry();
  const deployments = storageIn(opened, 'apps', 'deployments');
  const scale = storageIn(opened, 'apps', 'deployments', 'scale');
  await deployments.create(scopeOf(), deployment(), NO_OPTIONS);
  const { object, revision } = await scale.get(scopeOf(), 'd', { resourceVersion: '' });
  const seen: unknown[] = [];
  const to = (replicas: number, resourceVersion = '') =>
    scale.update(
      scopeOf(),
      'd',
      changing((now) => ({ ...now, metadata: { ...now.metadata, resourceVersion }, spec: { replicas } }), {
        validateUpdate: async (after, before) => void seen.push([after.kind, before?.['spec']]),
      }),
    );
  const { held } = await to(5, String(revision));
  const parent = await deployments.get(scopeOf(), 'd', { resourceVersion: '' });
  const refusals = [await refusalOf(to(6, String(revision))), await refusalOf(to(-1))];
  opened.registry.close();
  expect([
    object['spec'],
    object['status'],
    held.object['spec'],
    (parent.object['spec'] as { replicas: number }).replicas,
    parent.object.metadata?.generation,
    seen,
    refusals,
  ]).toEqual([
    { replicas: 2 },
    { replicas: 0, selector: 'app=d' },
    { replicas: 5 },
    5,
    2,
    [['Scale', { replicas: 2 }]],
    [
      '409 Conflict: Operation cannot be fulfilled on deployments.apps "d": the object has been modified; please apply your changes to the latest version and try again',
      '422 Invalid: Scale.autoscaling "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ],
  ]);
});

test('a token is bound to its pod and the node it runs on', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const warnings: string[] = [];
  const opened = testRegistry({
    signToken: createTokenSigner({ issuer: 'https://me', privateKey, clock: systemClock }),
    tokenExpirationSecondsMax: 7_200,
  });
  const scope = scopeOf('default', warnings);
  await storageIn(opened, '', 'serviceaccounts').create(scope, { metadata: { name: 'sa' } }, NO_OPTIONS);
  const pods = storageIn(opened, '', 'pods');
  await pods.create(scope, podOf('p', { serviceAccountName: 'sa', nodeName: 'n' }), NO_OPTIONS);
  await pods.create(scope, podOf('q', { serviceAccountName: 'other' }), NO_OPTIONS);
  const ask = (spec: object, name = 'sa') =>
    storageIn(opened, '', 'serviceaccounts', 'token').createNamed(scope, name, { spec }, NO_OPTIONS);
  const boundTo = (kind: string, name: string, more: object = {}) => ({
    boundObjectRef: { apiVersion: 'v1', kind, name, ...more },
  });
  const answer = await ask({ ...boundTo('Pod', 'p'), expirationSeconds: 9_000 });
  const { token } = answer['status'] as { token: string };
  const claims = parseJwt(token)?.claims ?? {};
  const refusals = [
    await refusalOf(ask({ expirationSeconds: 1 })),
    await refusalOf(ask(boundTo('Pod', 'q'))),
    await refusalOf(ask(boundTo('Pod', 'p', { uid: 'x' }))),
    await refusalOf(ask(boundTo('ConfigMap', 'c'))),
    await refusalOf(ask({}, 'nobody')),
  ];
  opened.registry.close();
  expect([
    claims['kubernetes.io'],
    claims['aud'],
    (answer['spec'] as { expirationSeconds: number }).expirationSeconds,
    warnings,
    refusals,
  ]).toEqual([
    {
      namespace: 'default',
      node: { name: 'n', uid: '' },
      pod: { name: 'p', uid: 'uid-2' },
      serviceaccount: { name: 'sa', uid: 'uid-1' },
    },
    ['https://me'],
    7_200,
    ['requested expiration of 9000 seconds shortened to 7200 seconds'],
    [
      '422 Invalid: TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 1: may not specify a duration less than 10 minutes',
      '400 BadRequest: cannot bind token for serviceaccount "sa" to pod running with different serviceaccount name.',
      '409 Conflict: Operation cannot be fulfilled on Pod "p": the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated',
      '400 BadRequest: cannot bind token to object of type /v1, Kind=ConfigMap',
      '404 NotFound: serviceaccounts "nobody" not found',
    ],
  ]);
});
