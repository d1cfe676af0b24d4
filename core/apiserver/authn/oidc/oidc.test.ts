import { constants, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import { errorText } from '../../../api/field/field-error.ts';
import { JWT_ALGORITHMS } from '../jwt.ts';
import type { UserInfo } from '../../server/user.ts';
import { compileJwtAuthenticator } from './compile.ts';
import type { HttpsGet } from './https-get.ts';
import { NO_CLAIM, type JwtAuthenticator } from './jwt-authenticator.ts';
import { createOidcAuthenticator, type OidcAuthenticator } from './oidc-authenticator.ts';

const URL = 'https://issuer.example.com';
const KEYS_URL = 'https://issuer.example.com/keys';

const authenticator = (changes: Partial<JwtAuthenticator> = {}): JwtAuthenticator => ({
  issuer: {
    url: URL,
    discoveryUrl: '',
    certificateAuthority: '',
    audiences: ['console'],
    audienceMatchPolicy: '',
  },
  claimValidationRules: [],
  claimMappings: {
    username: { claim: 'sub', prefix: 'oidc:', expression: '' },
    groups: NO_CLAIM,
    uid: { claim: '', expression: '' },
    extra: [],
  },
  userValidationRules: [],
  ...changes,
});

const mapped = (changes: Partial<JwtAuthenticator['claimMappings']>): JwtAuthenticator =>
  authenticator({ claimMappings: { ...authenticator().claimMappings, ...changes } });

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });

interface Minted {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly algorithm?: string;
  readonly keyId?: string;
  readonly key?: KeyObject;
}

const mint = (nowMs: number, options: Minted = {}): string => {
  const { claims = {}, algorithm = 'RS256', keyId = 'one', key = rsa.privateKey } = options;
  const now = Math.floor(nowMs / 1000);
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${encode({ alg: algorithm, kid: keyId })}.${encode({
    iss: URL,
    aud: 'console',
    sub: 'ada',
    exp: now + 3600,
    ...claims,
  })}`;
  const signed = sign(`sha${algorithm.slice(2)}`, Buffer.from(text), {
    key,
    ...(algorithm.startsWith('ES') && { dsaEncoding: 'ieee-p1363' }),
    ...(algorithm.startsWith('PS') && { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: -1 }),
  });
  return `${text}.${signed.toString('base64url')}`;
};

const jwk = (key: KeyObject, kid: string): object => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' });

/** An issuer that answers from memory. */
const issuer = () => {
  const state = {
    keys: [jwk(rsa.publicKey, 'one'), jwk(ec.publicKey, 'two')],
    isDown: false,
    asked: [] as string[],
    discovery: { issuer: URL, jwks_uri: KEYS_URL } as object,
  };
  const get: HttpsGet = (url) => {
    state.asked.push(url);
    if (state.isDown) return Promise.reject(new Error('connection refused'));
    return Promise.resolve(JSON.stringify(url === KEYS_URL ? { keys: state.keys } : state.discovery));
  };
  return { state, get };
};

const open: OidcAuthenticator[] = [];
afterEach(() => open.splice(0).forEach((one) => one.dispose()));

const start = async (spec = authenticator(), from = issuer(), isFound = true) => {
  const clock = manualClock();
  const { compiled, errors } = await compileJwtAuthenticator(spec, { path: 'jwt[0]', disallowedIssuers: [] });
  expect(errors).toEqual([]);
  const oidc = createOidcAuthenticator({
    compiled,
    algorithms: JWT_ALGORITHMS,
    clock,
    log: silentLog,
    get: from.get,
  });
  open.push(oidc);
  if (isFound) await oidc.found();
  const ask = async (options: Minted = {}): Promise<UserInfo | undefined> =>
    oidc.authenticate(mint(clock.nowMs(), options));
  return { oidc, clock, ask, ...from };
};

test.each(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256'])(
  'a token signed with %s by a published key is accepted',
  async (algorithm) => {
    const { ask } = await start();
    const isEc = algorithm.startsWith('ES');
    const user = await ask({
      algorithm,
      key: isEc ? ec.privateKey : rsa.privateKey,
      keyId: isEc ? 'two' : 'one',
    });
    expect(user).toEqual({ name: 'oidc:ada', uid: '', groups: [], extra: {} });
  },
);

test('tokens of other issuers, and texts that are no tokens, are left to others', async () => {
  const { oidc, ask } = await start();
  expect(await ask({ claims: { iss: 'https://other.example.com' } })).toBeUndefined();
  expect(await oidc.authenticate('abc')).toBeUndefined();
});

test.each<[string, Minted, string]>([
  [
    'another audience',
    { claims: { aud: ['other'] } },
    'oidc: expected audience in ["console"] got ["other"]',
  ],
  ['no expiry', { claims: { exp: undefined } }, 'oidc: token is expired'],
  [
    'an expiry in the past',
    { claims: { exp: 1 } },
    'oidc: token is expired (Token Expiry: 1970-01-01T00:00:01.000Z)',
  ],
  ['a start in the future', { claims: { nbf: 4_000_000_000 } }, 'before the nbf (not before) time'],
  [
    'a key of another owner',
    { key: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey },
    'failed to verify signature',
  ],
  ['an unknown key', { keyId: 'three' }, 'failed to verify signature'],
])('a token with %s is rejected', async (_what, options, message) => {
  const { ask, clock } = await start();
  // The first fetch of keys is free; a second one for an unknown key waits for its pause.
  await ask();
  const asked = expect(ask(options)).rejects.toThrow(message);
  await Promise.resolve();
  clock.advance(2000);
  await asked;
});

test('a symmetric or absent signature is never accepted, whatever the token says', async () => {
  const { oidc, clock } = await start();
  const [, body] = mint(clock.nowMs()).split('.');
  for (const alg of ['none', 'HS256']) {
    const head = Buffer.from(JSON.stringify({ alg, kid: 'one' })).toString('base64url');
    await expect(oidc.authenticate(`${head}.${body}.AAAA`)).rejects.toThrow('unsupported algorithm');
  }
});

test('a rotated key is fetched when the first token with it comes, once for all that wait', async () => {
  const { ask, state, clock } = await start();
  await ask();
  const next = generateKeyPairSync('rsa', { modulusLength: 2048 });
  state.keys = [jwk(next.publicKey, 'next')];
  state.asked.length = 0;
  const asked = Promise.all([1, 2, 3].map(() => ask({ key: next.privateKey, keyId: 'next' })));
  await Promise.resolve();
  clock.advance(2000);
  expect((await asked).map((user) => user?.name)).toEqual(['oidc:ada', 'oidc:ada', 'oidc:ada']);
  expect(state.asked).toEqual([KEYS_URL]);
});

test('known keys serve while the issuer is down', async () => {
  const { ask, state } = await start();
  await ask();
  state.isDown = true;
  expect((await ask())?.name).toBe('oidc:ada');
});

test('an issuer that is down at the start rejects its tokens until it answers', async () => {
  const from = issuer();
  from.state.isDown = true;
  const { oidc, ask, clock } = await start(authenticator(), from, false);
  await expect(ask()).rejects.toThrow('oidc: authenticator not initialized');
  expect(oidc.problem).toBeDefined();
  from.state.isDown = false;
  const found = oidc.found();
  clock.advance(10_000);
  await found;
  expect(oidc.problem).toBeUndefined();
  expect((await ask())?.name).toBe('oidc:ada');
});

test('an issuer that answers with another name is not believed', async () => {
  const from = issuer();
  from.state.discovery = { issuer: 'https://evil.example.com', jwks_uri: KEYS_URL };
  const { ask, oidc } = await start(authenticator(), from, false);
  await expect(ask()).rejects.toThrow('not initialized');
  await Promise.resolve();
  expect(oidc.problem).toContain('expected "https://issuer.example.com" got "https://evil.example.com"');
});

test('claims become user, groups, UID and extra', async () => {
  const spec = mapped({
    username: { claim: '', prefix: undefined, expression: "'o:' + claims.sub" },
    groups: { claim: '', prefix: undefined, expression: 'claims.roles.split(",")' },
    uid: { claim: 'oid', expression: '' },
    extra: [{ key: 'example.org/team', valueExpression: "has(claims.team) ? claims.team : ''" }],
  });
  const { ask } = await start(spec);
  expect(await ask({ claims: { roles: 'dev,ops', oid: '42', jti: 'j1', team: ['a', ''] } })).toEqual({
    name: 'o:ada',
    uid: '42',
    groups: ['dev', 'ops'],
    extra: { 'authentication.kubernetes.io/credential-id': ['JTI=j1'], 'example.org/team': ['a'] },
  });
});

test.each<[string, JwtAuthenticator, Minted, string]>([
  [
    'a required claim that is absent',
    authenticator({
      claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com', expression: '', message: '' }],
    }),
    {},
    'oidc: required claim hd not present in ID token',
  ],
  [
    'a required claim with another value',
    authenticator({
      claimValidationRules: [{ claim: 'hd', requiredValue: 'example.com', expression: '', message: '' }],
    }),
    { claims: { hd: 'evil.com' } },
    'oidc: required claim hd value does not match. Got = evil.com, want = example.com',
  ],
  [
    'a claim rule that fails',
    authenticator({
      claimValidationRules: [
        { claim: '', requiredValue: '', expression: 'claims.exp - claims.iat <= 60', message: 'too long' },
      ],
    }),
    { claims: { iat: 1 } },
    "validation expression 'claims.exp - claims.iat <= 60' failed: too long",
  ],
  [
    'a reserved name',
    authenticator({
      userValidationRules: [{ expression: "!user.username.startsWith('oidc:a')", message: 'reserved' }],
    }),
    {},
    'failed: reserved',
  ],
  [
    'an expression that cannot be evaluated',
    mapped({ username: { claim: '', prefix: undefined, expression: 'claims.nope' } }),
    {},
    "oidc: error evaluating username claim expression: expression 'claims.nope' resulted in error: no such key: nope",
  ],
  [
    'an e-mail address that the issuer did not verify',
    mapped({ username: { claim: 'email', prefix: '', expression: '' } }),
    { claims: { email: 'ada@example.com', email_verified: false } },
    'oidc: email not verified',
  ],
  [
    'groups of another type',
    mapped({ groups: { claim: 'groups', prefix: '', expression: '' } }),
    { claims: { groups: [1] } },
    'oidc: parse groups claim "groups"',
  ],
])('%s is rejected', async (_what, spec, options, message) => {
  const { ask } = await start(spec);
  await expect(ask(options)).rejects.toThrow(message);
});

const errorsOf = async (
  spec: JwtAuthenticator,
  disallowedIssuers: readonly string[] = [],
): Promise<string[]> =>
  (await compileJwtAuthenticator(spec, { path: 'jwt[0]', disallowedIssuers })).errors.map(errorText);

const withIssuer = (changes: Partial<JwtAuthenticator['issuer']>): JwtAuthenticator =>
  authenticator({ issuer: { ...authenticator().issuer, ...changes } });

test.each<[JwtAuthenticator, readonly string[]]>([
  [withIssuer({ url: '' }), ['jwt[0].issuer.url: Required value']],
  [
    withIssuer({ url: 'http://a' }),
    ['jwt[0].issuer.url: Invalid value: "http://a": URL scheme must be https'],
  ],
  [
    withIssuer({ url: 'https://u:p@a?b#c' }),
    [
      'jwt[0].issuer.url: Invalid value: "https://u:p@a?b#c": URL must not contain a username or password',
      'jwt[0].issuer.url: Invalid value: "https://u:p@a?b#c": URL must not contain a query',
      'jwt[0].issuer.url: Invalid value: "https://u:p@a?b#c": URL must not contain a fragment',
    ],
  ],
  [
    withIssuer({ discoveryUrl: `${URL}/` }),
    [`jwt[0].issuer.discoveryURL: Invalid value: "${URL}/": discoveryURL must be different from URL`],
  ],
  [
    withIssuer({ audiences: [] }),
    ['jwt[0].issuer.audiences: Required value: at least one jwt[0].issuer.audiences is required'],
  ],
  [
    withIssuer({ audiences: ['a', 'a'] }),
    [
      'jwt[0].issuer.audiences[1]: Duplicate value: "a"',
      'jwt[0].issuer.audienceMatchPolicy: Invalid value: "": audienceMatchPolicy must be MatchAny for multiple audiences',
    ],
  ],
  [
    withIssuer({ certificateAuthority: 'x' }),
    [
      'jwt[0].issuer.certificateAuthority: Invalid value: "<omitted>": data does not contain any valid RSA or ECDSA certificates',
    ],
  ],
  [
    mapped({ username: NO_CLAIM }),
    ['jwt[0].claimMappings.username: Required value: claim or expression is required'],
  ],
  [
    mapped({ username: { claim: 'sub', prefix: undefined, expression: '' } }),
    [
      'jwt[0].claimMappings.username.prefix: Required value: prefix is required when claim is set. It can be set to an empty string to disable prefixing',
    ],
  ],
  [
    mapped({ username: { claim: '', prefix: undefined, expression: 'claims.email' } }),
    [
      'jwt[0].claimMappings.username.expression: Invalid value: "claims.email": claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression',
    ],
  ],
  [
    mapped({
      extra: [
        { key: 'Team', valueExpression: 'claims.a' },
        { key: 'a.kubernetes.io/b', valueExpression: '' },
      ],
    }),
    [
      'jwt[0].claimMappings.extra[0].key: Invalid value: "Team": must be a domain-prefixed path (such as "acme.io/foo")',
      'jwt[0].claimMappings.extra[0].key: Invalid value: "Team": must be lowercase',
      'jwt[0].claimMappings.extra[1].key: Invalid value: "a.kubernetes.io/b": k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use',
      'jwt[0].claimMappings.extra[1].valueExpression: Required value',
    ],
  ],
  [
    authenticator({ userValidationRules: [{ expression: 'user.username', message: '' }] }),
    ['jwt[0].userValidationRules[0].expression: Invalid value: "user.username": must evaluate to bool'],
  ],
])('a configuration that breaks a rule is rejected as upstream does (%#)', async (spec, expected) => {
  expect(await errorsOf(spec)).toEqual(expected);
});

test("an e-mail address may be used where the issuer's verification is asked for", async () => {
  const expression = "claims.email_verified ? claims.email : 'none'";
  expect(await errorsOf(mapped({ username: { claim: '', prefix: undefined, expression } }))).toEqual([]);
});

test('the issuer of service accounts cannot be configured as a foreign one', async () => {
  expect(await errorsOf(authenticator(), [URL])).toEqual([
    `jwt[0].issuer.url: Invalid value: "${URL}": URL must not overlap with disallowed issuers: [${URL}]`,
  ]);
});

test('names with dots, dashes and slashes are written escaped, at every depth', async () => {
  const { ask } = await start({
    ...mapped({
      username: {
        claim: '',
        prefix: undefined,
        expression: `"system:serviceaccount:" + claims.kubernetes__dot__io.namespace`,
      },
      groups: { claim: '', prefix: undefined, expression: 'claims.list.map(one, one.a__dash__b)' },
      extra: [
        { key: 'example.com/warn-after', valueExpression: 'string(int(claims.kubernetes__dot__io.after))' },
      ],
    }),
    claimValidationRules: [
      {
        claim: '',
        requiredValue: '',
        expression: 'has(claims.kubernetes__dot__io.pod.x__slash__y) && claims["kubernetes.io"].after == 7.0',
        message: '',
      },
    ],
    userValidationRules: [
      { expression: 'user.extra.example__dot__com__slash__warn__dash__after[0] == "7"', message: '' },
    ],
  });
  const claims = {
    'kubernetes.io': { namespace: 'web', after: 7, pod: { 'x/y': 1 } },
    list: [{ 'a-b': 'pilots' }],
  };
  expect(await ask({ claims })).toMatchObject({
    name: 'system:serviceaccount:web',
    groups: ['pilots'],
    extra: { 'example.com/warn-after': ['7'] },
  });
});

const GROUPS_URL = 'https://groups.example.com/ada';
const GROUPS_ISSUER = 'https://groups.example.com';
const POINTER = {
  _claim_names: { groups: 'elsewhere' },
  _claim_sources: { elsewhere: { endpoint: GROUPS_URL, access_token: 'secret' } },
};

/** An issuer whose tokens only say where the groups are. */
const distributed = async (minted: (nowMs: number) => string) => {
  const from = issuer();
  const bearers: (string | undefined)[] = [];
  const get: HttpsGet = (url, signal, bearer) => {
    if (url === GROUPS_URL) {
      bearers.push(bearer);
      return Promise.resolve(minted(started.clock.nowMs()));
    }
    if (url.startsWith(GROUPS_ISSUER))
      return Promise.resolve(JSON.stringify({ issuer: GROUPS_ISSUER, jwks_uri: KEYS_URL }));
    return from.get(url, signal);
  };
  const groups = { claim: 'groups', prefix: 'g:', expression: '' };
  const started = await start(mapped({ groups }), { ...from, get });
  return { ...started, bearers };
};

test('groups that are kept elsewhere are fetched and verified', async () => {
  const { ask, bearers } = await distributed((nowMs) =>
    mint(nowMs, { claims: { iss: GROUPS_ISSUER, groups: ['pilots'] } }),
  );
  expect(await ask({ claims: POINTER })).toMatchObject({ groups: ['g:pilots'] });
  expect(bearers).toEqual(['secret']);
  expect(await ask({ claims: { ...POINTER, groups: 'own' } })).toMatchObject({ groups: ['g:own'] });
  expect(bearers).toEqual(['secret']);
});

test.each([
  ['no token', () => 'nonsense', POINTER, 'malformed token'],
  [
    'the claim missing',
    (nowMs: number) => mint(nowMs, { claims: { iss: GROUPS_ISSUER } }),
    POINTER,
    `jwt returned by distributed claim endpoint "${GROUPS_URL}" did not contain claim: groups`,
  ],
  [
    'a token for somebody else',
    (nowMs: number) => mint(nowMs, { claims: { iss: GROUPS_ISSUER, aud: 'x', groups: ['root'] } }),
    POINTER,
    'verify distributed claim token: oidc: verify token: oidc: expected audience in ["console"] got ["x"]',
  ],
  ['no sources', () => '', { _claim_names: { groups: 'a' } }, 'oidc: no claim sources'],
  [
    'a source that is not there',
    () => '',
    { ...POINTER, _claim_names: { groups: 'gone' } },
    'id token _claim_names contained a source gone missing in _claims_sources',
  ],
])('distributed groups with %s are refused', async (_what, minted, claims, message) => {
  const { ask } = await distributed(minted);
  await expect(ask({ claims })).rejects.toThrow(message);
});
