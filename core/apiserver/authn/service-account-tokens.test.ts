import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import type { TokenObject } from './service-account-claims.ts';
import {
  createServiceAccountTokens,
  createTokenSigner,
  expirationProblem,
  type TokenOrder,
} from './service-account-tokens.ts';

const ISSUER = 'https://kubernetes.default.svc';
const ec = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const otherEc = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });

const ORDER: TokenOrder = {
  namespace: 'default',
  serviceAccount: { name: 'web', uid: 'sa-uid' },
  expirationSeconds: 600,
};
const POD = { name: 'web-0', uid: 'pod-uid' };
const NODE = { name: 'n1', uid: 'node-uid' };

const setup = (keys: readonly KeyObject[] = [ec.publicKey, rsa.publicKey]) => {
  const clock = manualClock();
  const objects = new Map<string, TokenObject>([
    ['ServiceAccount default/web', { uid: 'sa-uid' }],
    ['Pod default/web-0', { uid: 'pod-uid' }],
    ['Secret default/s', { uid: 'secret-uid' }],
    ['Node /n1', { uid: 'node-uid' }],
  ]);
  const tokens = createServiceAccountTokens({
    issuers: [ISSUER, 'https://old'],
    verificationKeys: keys,
    getObject: (kind, { namespace, name }) => objects.get(`${kind} ${namespace}/${name}`),
    clock,
  });
  const sign = createTokenSigner({ issuer: ISSUER, privateKey: ec.privateKey, clock });
  return { clock, objects, tokens, sign };
};

const part = (token: string, at: number): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[at]!, 'base64url').toString()) as Record<string, unknown>;
const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

test.each([
  ['ES256', ec],
  ['RS256', rsa],
])('a token signed with %s speaks for its service account', async (algorithm, { privateKey }) => {
  const { clock, tokens } = setup();
  const sign = createTokenSigner({ issuer: ISSUER, privateKey, clock });
  const { token, expirationTimestampMs } = sign({ ...ORDER, pod: POD, node: NODE });
  const user = await tokens.authenticate(token);
  expect(part(token, 0)['alg']).toBe(algorithm);
  expect(expirationTimestampMs - clock.nowMs()).toBe(600_000);
  expect(user).toEqual({
    name: 'system:serviceaccount:default:web',
    uid: 'sa-uid',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default'],
    extra: {
      'authentication.kubernetes.io/pod-name': ['web-0'],
      'authentication.kubernetes.io/pod-uid': ['pod-uid'],
      'authentication.kubernetes.io/node-name': ['n1'],
      'authentication.kubernetes.io/node-uid': ['node-uid'],
      'authentication.kubernetes.io/credential-id': [`JTI=${String(part(token, 1)['jti'])}`],
    },
  });
});

test('a token holds for its time and a minute of leeway, and not before', async () => {
  const { clock, tokens, sign } = setup();
  const { token } = sign(ORDER);
  clock.advance(659_000);
  expect(await tokens.authenticate(token)).toBeDefined();
  clock.advance(2000);
  await expect(tokens.authenticate(token)).rejects.toThrow('service account token has expired');
  const later = manualClock(clock.nowMs() + 120_000);
  const early = createTokenSigner({ issuer: ISSUER, privateKey: ec.privateKey, clock: later })(ORDER).token;
  await expect(tokens.authenticate(early)).rejects.toThrow('service account token is not valid yet');
});

test('a token is for its audiences alone', async () => {
  const { tokens, sign } = setup();
  const { token } = sign({ ...ORDER, audiences: ['vault', 'other'] });
  await expect(tokens.authenticate(token)).rejects.toThrow(
    'token audiences ["vault" "other"] is invalid for the target audiences ["https://kubernetes.default.svc" "https://old"]',
  );
  expect((await tokens.review(token, ['vault']))?.audiences).toEqual(['vault']);
});

test('a token of another issuer is none of ours', async () => {
  const { clock, tokens } = setup();
  const sign = createTokenSigner({ issuer: 'https://evil', privateKey: ec.privateKey, clock });
  expect(await tokens.authenticate(sign(ORDER).token)).toBeUndefined();
  expect(await tokens.authenticate('no.token')).toBeUndefined();
});

test('a token that was changed, or signed by somebody else, is refused', async () => {
  const { clock, tokens, sign } = setup();
  const [head, body, signature] = sign(ORDER).token.split('.') as [string, string, string];
  const claims = part(`${head}.${body}`, 1);
  const forged = [
    `${head}.${encode({ ...claims, sub: 'system:serviceaccount:kube-system:admin' })}.${signature}`,
    `${head}.${encode({ ...claims, exp: 9e9 })}.${signature}`,
    createTokenSigner({ issuer: ISSUER, privateKey: otherEc.privateKey, clock })(ORDER).token,
  ];
  for (const token of forged)
    await expect(tokens.authenticate(token)).rejects.toThrow('none of the known keys');
});

test('a token does not choose its algorithm', async () => {
  const { tokens, sign } = setup();
  const [head, body, signature] = sign(ORDER).token.split('.') as [string, string, string];
  const withHeader = (header: object, tail = signature) =>
    `${encode({ ...part(`${head}.`, 0), ...header })}.${body}.${tail}`;
  expect(await tokens.authenticate(withHeader({ alg: 'none' }, ''))).toBeUndefined();
  for (const alg of ['none', 'HS256', 'RS256', 'ES384'])
    await expect(tokens.authenticate(withHeader({ alg }))).rejects.toThrow('none of the known keys');
  expect(await tokens.authenticate(withHeader({ crit: ['exp'] }))).toBeUndefined();
});

test.each([
  ['Pod default/web-0', { pod: POD }],
  ['Secret default/s', { secret: { name: 's', uid: 'secret-uid' } }],
  ['Node /n1', { node: NODE }],
  ['ServiceAccount default/web', {}],
])('a token ends with its %s', async (key, bound) => {
  const { clock, objects, tokens, sign } = setup();
  const { token } = sign({ ...ORDER, ...bound });
  expect(await tokens.authenticate(token)).toBeDefined();
  const original = objects.get(key)!;
  objects.set(key, { uid: 'made-anew' });
  await expect(tokens.authenticate(token)).rejects.toThrow('does not match');
  objects.set(key, { ...original, deletedAtMs: clock.nowMs() - 61_000 });
  await expect(tokens.authenticate(token)).rejects.toThrow(/invalidated|has been deleted/);
  objects.delete(key);
  await expect(tokens.authenticate(token)).rejects.toThrow(/invalidated|not found/);
});

test('the node of a pod is reported, and not looked up', async () => {
  const { objects, tokens, sign } = setup();
  objects.delete('Node /n1');
  expect(await tokens.authenticate(sign({ ...ORDER, pod: POD, node: NODE }).token)).toBeDefined();
});

test("expirations have upstream's bounds, and long ones are cut to the configured maximum", () => {
  expect([599, 600, 2 ** 32, 2 ** 32 + 1].map(expirationProblem)).toEqual([
    'may not specify a duration less than 10 minutes',
    undefined,
    undefined,
    'may not specify a duration larger than 2^32 seconds',
  ]);
  const clock = manualClock();
  const sign = createTokenSigner({
    issuer: ISSUER,
    privateKey: ec.privateKey,
    clock,
    expirationSecondsMax: 3600,
  });
  const issued = sign({ ...ORDER, expirationSeconds: 86_400 });
  expect(issued.expirationTimestampMs - clock.nowMs()).toBe(3_600_000);
});

test('a token of a pod for this API is good for a year and says when it should have been renewed', () => {
  const { clock } = setup();
  const sign = createTokenSigner({
    issuer: ISSUER,
    privateKey: ec.privateKey,
    clock,
    extendsPodTokens: true,
  });
  const lifeOf = (order: Partial<TokenOrder>): unknown[] => {
    const { token, expirationTimestampMs } = sign({ ...ORDER, expirationSeconds: 3607, ...order });
    const claims = part(token, 1) as { exp: number; iat: number; 'kubernetes.io': { warnafter?: number } };
    const warnAfter = claims['kubernetes.io'].warnafter;
    return [
      claims.exp - claims.iat,
      warnAfter && warnAfter - claims.iat,
      expirationTimestampMs / 1000 - claims.iat,
    ];
  };
  const year = 365 * 24 * 60 * 60;
  expect([
    lifeOf({ pod: POD }),
    lifeOf({}),
    lifeOf({ pod: POD, expirationSeconds: 3600 }),
    lifeOf({ pod: POD, audiences: ['vault'] }),
  ]).toEqual([
    [year, 3607, 3607],
    [3607, undefined, 3607],
    [3600, undefined, 3600],
    [3607, undefined, 3607],
  ]);
});
