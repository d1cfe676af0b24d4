import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { signJwt } from './jwt.ts';
import { LEGACY_ISSUER } from './legacy-token-claims.ts';
import type { TokenObject } from './service-account-claims.ts';
import { createServiceAccountTokens } from './service-account-tokens.ts';

const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const CLAIMS = {
  iss: LEGACY_ISSUER,
  sub: 'system:serviceaccount:default:web',
  'kubernetes.io/serviceaccount/namespace': 'default',
  'kubernetes.io/serviceaccount/secret.name': 'web-token',
  'kubernetes.io/serviceaccount/service-account.name': 'web',
  'kubernetes.io/serviceaccount/service-account.uid': 'sa-uid',
};
const TOKEN = signJwt(CLAIMS, privateKey);

const authenticate = (objects: Readonly<Record<string, TokenObject>>, token = TOKEN) =>
  createServiceAccountTokens({
    issuers: ['https://kubernetes.default.svc'],
    verificationKeys: [publicKey],
    getObject: (kind, { namespace, name }) => objects[`${kind} ${namespace}/${name}`],
    clock: manualClock(),
  }).authenticate(token);

const SECRET = { uid: 'secret-uid', token: TOKEN };
const ACCOUNT = { uid: 'sa-uid' };
const held = (secret: TokenObject = SECRET, account: TokenObject = ACCOUNT) => ({
  'Secret default/web-token': secret,
  'ServiceAccount default/web': account,
});

test('a token that its secret holds speaks for the service account, without an end', async () => {
  expect(await authenticate(held())).toEqual({
    name: 'system:serviceaccount:default:web',
    uid: 'sa-uid',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
    extra: {},
  });
});

test.each([
  ['its secret is gone', { 'ServiceAccount default/web': ACCOUNT }, 'Token has been invalidated'],
  ['its secret is being deleted', held({ ...SECRET, deletedAtMs: 1 }), 'Token has been invalidated'],
  ['its secret holds another', held({ ...SECRET, token: 'x' }), "Token does not match server's copy"],
  ['its secret is marked', held({ ...SECRET, isMarkedInvalid: true }), 'has been marked invalid'],
  ['its account is gone', { 'Secret default/web-token': SECRET }, 'serviceaccounts "web" not found'],
  [
    'its account is another',
    held(SECRET, { uid: 'new' }),
    'ServiceAccount UID (new) does not match claim (sa-uid)',
  ],
])('a token is refused when %s', async (_why, objects: Record<string, TokenObject>, message) => {
  await expect(authenticate(objects)).rejects.toThrow(message);
});

test.each([
  ['sub', 'sub claim is missing'],
  ['kubernetes.io/serviceaccount/namespace', 'namespace claim is missing'],
  ['kubernetes.io/serviceaccount/secret.name', 'secretName claim is missing'],
])('a token without %s is refused', async (name, message) => {
  const token = signJwt({ ...CLAIMS, [name]: undefined }, privateKey);
  await expect(authenticate(held({ ...SECRET, token }), token)).rejects.toThrow(message);
});

test('a token whose subject is another account is refused', async () => {
  const token = signJwt({ ...CLAIMS, sub: 'system:serviceaccount:default:other' }, privateKey);
  await expect(authenticate(held({ ...SECRET, token }), token)).rejects.toThrow('sub claim is invalid');
});
