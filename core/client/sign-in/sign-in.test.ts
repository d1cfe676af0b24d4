import { mkdtempSync, rmSync, statSync, writeFileSync, readdirSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { readPluginArguments } from './plugin-arguments.ts';
import { readIdToken } from './id-token.ts';
import { withExecUser } from './kubeconfig-user.ts';
import type { ProviderConfig } from './provider.ts';
import { LISTEN_ADDRESSES, openRedirect, type Redirect } from './redirect.ts';
import { openTokenCache } from './token-cache.ts';

const CONFIG: ProviderConfig = {
  issuerUrl: 'https://issuer.example',
  clientId: 'kube',
  clientSecret: '',
  extraScopes: [],
  authorityPem: '',
};
const tokenOf = (claims: object): string =>
  ['{}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.');
const GOOD = { iss: CONFIG.issuerUrl, aud: ['kube'], exp: 2_000_000_000, nonce: 'n' };

const opened: (() => void)[] = [];
afterEach(() => {
  for (const close of opened.splice(0)) close();
});

test.each([
  ['another issuer', { ...GOOD, iss: 'https://other' }, 'is of issuer "https://other"'],
  ['another client', { ...GOOD, aud: 'other' }, 'is for "other", not for "kube"'],
  ['another sign-in', { ...GOOD, nonce: 'm' }, 'was issued for another sign-in'],
  ['no end', { ...GOOD, exp: undefined }, 'does not say when it expires'],
])('an ID token of %s is refused', (_what, claims, message) => {
  expect(() => readIdToken(tokenOf(claims), { ...CONFIG, nonce: 'n' })).toThrow(message);
});

test.each(['', 'a.b', 'a.b.c', `x.${Buffer.from('[]').toString('base64url')}.y`])(
  'text that is no token is refused with what to do: %j',
  (text) => expect(() => readIdToken(text, CONFIG)).toThrow('allow the scope "openid"'),
);

const open = async (): Promise<Redirect> => {
  const redirect = await openRedirect(['127.0.0.1:0']);
  opened.push(() => redirect.dispose());
  return redirect;
};
const visit = (url: string): Promise<{ readonly code: number; readonly body: string }> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.once('end', () => resolve({ code: response.statusCode ?? 0, body }));
    }).once('error', reject);
  });

test('only the page with the state of this sign-in ends it', async () => {
  const redirect = await open();
  const code = redirect.code('right');
  expect((await visit(`${redirect.url}/?state=wrong&code=stolen`)).code).toBe(400);
  expect((await visit(`${redirect.url}/other?state=right&code=c`)).code).toBe(404);
  expect((await visit(`${redirect.url}/?state=right&code=c`)).code).toBe(200);
  expect(await code).toBe('c');
  expect((await visit(`${redirect.url}/?state=right&code=again`)).code).toBe(400);
});

test('the error of the provider is shown, and is not taken for HTML', async () => {
  const redirect = await open();
  const code = redirect.code('s');
  code.catch(() => undefined);
  const page = await visit(
    `${redirect.url}/?state=s&error=access_denied&error_description=<script>no</script>`,
  );
  expect(page.body).not.toContain('<script>');
  await expect(code).rejects.toMatchObject({
    reason: 'Denied',
    message: 'the provider denied the sign-in: <script>no</script>',
  });
});

test.each(['0.0.0.0:0', '192.0.2.1:8000', 'nonsense'])(
  'listens on loopback only, not on %s',
  async (address) => {
    await expect(openRedirect([address])).rejects.toMatchObject({ reason: 'CannotListen' });
  },
);

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'sign-in-'));
  opened.push(() => rmSync(made, { recursive: true, force: true }));
  return made;
};

test('tokens are kept for their owner alone, and a file that was cut off counts as none', async () => {
  const home = join(folder(), 'cache');
  const cache = openTokenCache(home, CONFIG, systemClock);
  expect(await cache.read()).toBeUndefined();
  const tokens = { idToken: readIdToken(tokenOf(GOOD), CONFIG), refreshToken: 'r' };
  await cache.write(tokens);
  expect(await cache.read()).toEqual(tokens);
  const [name = ''] = readdirSync(home);
  expect(statSync(join(home, name)).mode & 0o777).toBe(0o600);
  expect(await openTokenCache(home, { ...CONFIG, clientId: 'other' }, systemClock).read()).toBeUndefined();
  writeFileSync(join(home, name), '{"id_token":"a');
  expect(await cache.read()).toBeUndefined();
});

test('one caller at a time works on the tokens', async () => {
  const cache = openTokenCache(folder(), CONFIG, systemClock);
  const life = new AbortController();
  const order: string[] = [];
  let leave: () => void = () => undefined;
  const first = cache.alone(async () => {
    order.push('first in');
    await new Promise<void>((resolve) => (leave = resolve));
    order.push('first out');
  }, life.signal);
  await expect.poll(() => order).toEqual(['first in']);
  const second = cache.alone(() => Promise.resolve(void order.push('second in')), life.signal);
  leave();
  await Promise.all([first, second]);
  expect(order).toEqual(['first in', 'first out', 'second in']);
});

const USER = { name: 'oidc', command: '/bin/pilothouse', args: ['login', 'get-token'], env: {} };

test('the current context uses the new user, and everything else in the file stays', () => {
  const before =
    '# mine\ncurrent-context: a\ncontexts:\n  - name: a\n    context: { cluster: c, user: old }\n  - name: b\n    context: { cluster: c, user: old }\nusers:\n  - name: old\n    user: {}\n';
  const { text, context } = withExecUser(before, USER, undefined);
  expect(context).toBe('a');
  expect(text).toContain('# mine');
  expect(text).toContain('- name: a\n    context: { cluster: c, user: oidc }');
  expect(text).toContain('- name: b\n    context: { cluster: c, user: old }');
  expect(text).toContain('    command: /bin/pilothouse'.trim());
  expect(withExecUser(text, USER, undefined).text).toBe(text);
});

test('a file without contexts gets the user, and a context that is not there is an error', () => {
  expect(withExecUser('', USER, undefined)).toMatchObject({ context: undefined });
  expect(() => withExecUser('', USER, 'gone')).toThrow('kubeconfig: context "gone" not found');
  expect(() => withExecUser('users: 3\n', USER, undefined)).toThrow('"users" is not a list');
  expect(() => withExecUser('a: [', USER, undefined)).toThrow('kubeconfig: ');
});

test('the arguments of the plugin are read, and those of another program are not', () => {
  const flags = ['--oidc-issuer-url=https://issuer.example', '--oidc-client-id', 'kube'];
  expect(readPluginArguments(['cli.js', 'login', 'get-token', ...flags, '--token-cache-dir=/c'])).toEqual({
    issuerUrl: 'https://issuer.example',
    clientId: 'kube',
    clientSecret: '',
    extraScopes: [],
    authorityFile: '',
    listenAddresses: LISTEN_ADDRESSES,
    cacheFolder: '/c',
  });
  expect(
    [
      ['oidc-login', 'get-token', ...flags],
      ['login', 'get-token', ...flags, '--grant-type=password'],
      ['login', 'get-token', '--oidc-issuer-url=http://issuer.example', '--oidc-client-id=kube'],
    ].map(readPluginArguments),
  ).toEqual([undefined, undefined, undefined]);
});
