import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../core/base/node/clock.ts';
import { loadKubeconfig } from '../../core/client/index.ts';
import type { ClusterEntry } from '../../core/contract/index.ts';
import { SignIns } from '../../main/kube/sign-ins.ts';
import { ControlPlane } from '../support/control-plane.ts';
import { until } from '../support/until.ts';
import { OIDC_CLIENT, startOidcServer, type OidcServer } from '../support/oidc-server.ts';

const OCTET = 61;
const CLI = join(process.cwd(), 'dist/cli/cli.js');
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-oidc-'));
const kubeconfig = join(directory, 'config');
const cache = join(directory, 'cache');
const run = promisify(execFile);

let provider: OidcServer;
let plane: ControlPlane;

const configuration = join(directory, 'authentication.yaml');

const configurationText = (prefix: string, issuer = provider.issuer): string =>
  stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url: issuer,
          audiences: [OIDC_CLIENT.id],
          certificateAuthority: provider.authorityPem,
        },
        claimMappings: {
          username: { claim: 'email', prefix },
          groups: { expression: 'claims.groups.map(group, "oidc:" + group)' },
        },
      },
    ],
  });

beforeAll(async () => {
  provider = await startOidcServer(`127.${OCTET}.0.9`);
  writeFileSync(join(directory, 'provider.crt'), provider.authorityPem);
  writeFileSync(configuration, configurationText('oidc:'), { mode: 0o600 });
  plane = await ControlPlane.create({
    etcd: 'pilothouse',
    members: 1,
    apiServers: 1,
    octet: OCTET,
    directory: join(directory, 'plane'),
    apiServerFlags: [`--authentication-config=${configuration}`, '--authorization-mode=RBAC'],
  });
  await plane.start();
  writeFileSync(kubeconfig, `# kept\n${plane.kubeconfig()}`, { mode: 0o600 });
});

afterAll(async () => {
  await plane.stop();
  await provider.stop();
  rmSync(directory, { recursive: true, force: true });
});

const flags = (): readonly string[] => [
  `--oidc-issuer-url=${provider.issuer}`,
  `--oidc-client-id=${OIDC_CLIENT.id}`,
  '--oidc-extra-scope=offline_access',
  `--certificate-authority=${join(directory, 'provider.crt')}`,
  '--listen-address=127.0.0.1:0',
  `--token-cache-dir=${cache}`,
  '--skip-open-browser',
];

/** Runs the command and plays the person at the browser when it asks for one. */
const signIn = async (...args: readonly string[]) => {
  const child = spawn(process.execPath, [CLI, 'login', ...args, ...flags()], {
    env: { ...process.env, HOME: directory },
  });
  const pages: { readonly code: number; readonly body: string }[] = [];
  const notes: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    notes.push(line);
    const url = /^Sign in at (\S+)$/.exec(line)?.[1];
    if (url)
      provider.browse(url).then(
        (page) => pages.push(page),
        (error: unknown) => notes.push(String(error)),
      );
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output, notes: notes.join('\n'), pages };
};

/** As kubectl does it: asks the plugin of the kubeconfig. */
const pluginToken = async (): Promise<string> => {
  const { users } = parse(readFileSync(kubeconfig, 'utf8')) as {
    users: { name: string; user: { exec: { command: string; args: string[] } } }[];
  };
  const { command, args } = users.find(({ name }) => name === 'oidc')!.user.exec;
  const { stdout } = await run(command, args, { env: { ...process.env, HOME: directory } });
  return (JSON.parse(stdout) as { status: { token: string } }).status.token;
};

const whoAmI = (token: string): Promise<{ readonly code: number; readonly user: unknown }> =>
  new Promise((resolve, reject) => {
    const asking = request(
      `${plane.apiServers[0]!.url}/apis/authentication.k8s.io/v1/selfsubjectreviews`,
      {
        method: 'POST',
        agent: false,
        ca: readFileSync(join(plane.options.directory, 'pki/ca.crt')),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      },
      (response) => {
        let body = '';
        response.on('data', (chunk: Buffer) => (body += chunk.toString()));
        response.once('end', () => {
          const { status } = JSON.parse(body) as { status?: { userInfo?: unknown } };
          resolve({ code: response.statusCode ?? 0, user: status?.userInfo });
        });
      },
    );
    asking.once('error', reject);
    asking.end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}');
  });

const nameOf = ({ user }: { readonly user: unknown }): string | undefined =>
  (user as { readonly username?: string } | undefined)?.username;

const untilKnownAs = (name: string, token: string): Promise<unknown> =>
  until('the new configuration is in use', async () => nameOf(await whoAmI(token)) === name);

const ADA = {
  code: 201,
  user: expect.objectContaining({
    username: 'oidc:ada@example.com',
    groups: ['oidc:pilots', 'system:authenticated'],
  }) as unknown,
};

test('a person signs in through the browser, and the API server knows her by the token of the plugin', async () => {
  const { code, output, notes, pages } = await signIn(`--kubeconfig=${kubeconfig}`);
  expect({ code, notes: code === 0 ? '' : notes }).toEqual({ code: 0, notes: '' });
  expect(output).toContain('signed in as ada@example.com');
  expect(pages.map((page) => page.code)).toEqual([200]);
  expect(readFileSync(kubeconfig, 'utf8')).toContain('# kept');
  expect(await whoAmI(await pluginToken())).toEqual(ADA);
  const kept = [cache, ...readdirSync(cache).map((name) => join(cache, name)), kubeconfig];
  expect(kept.map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual(['700', '600', '600']);
});

test('an expired token is renewed without a browser', async () => {
  rmSync(cache, { recursive: true });
  // Less than what a request needs: expired as soon as it is cached.
  provider.idTokenSeconds = 5;
  expect((await signIn('get-token')).code).toBe(0);
  provider.idTokenSeconds = 3600;
  const { code, pages, output } = await signIn('get-token');
  expect({ code, pages }).toEqual({ code: 0, pages: [] });
  expect(await whoAmI((JSON.parse(output) as { status: { token: string } }).status.token)).toEqual(ADA);
});

test('keys that the provider rotates are found without a restart', async () => {
  provider.rotateKeys();
  rmSync(cache, { recursive: true });
  expect((await signIn('get-token')).code).toBe(0);
  expect(await whoAmI(await pluginToken())).toEqual(ADA);
});

test('while the provider is down, tokens stay good and a sign-in says what is wrong', async () => {
  const token = await pluginToken();
  await provider.stop();
  expect(await whoAmI(token)).toEqual(ADA);
  rmSync(cache, { recursive: true });
  const { code, notes, pages } = await signIn('get-token');
  expect({ code, pages }).toEqual({ code: 1, pages: [] });
  expect(notes).toMatch(/^pilothouse: https:.*openid-configuration: connect ECONNREFUSED/);
  await provider.start();
  expect((await signIn('get-token')).code).toBe(0);
});

test('half a configuration, or one whose issuer lies, leaves the old one in use, and a complete one replaces it', async () => {
  const token = await pluginToken();
  const complaints = (): number => plane.log(0).split('the old one stays').length - 1;
  writeFileSync(configuration, configurationText('new:').slice(0, -20));
  await until('the half file is refused', () => complaints() > 0);
  expect(await whoAmI(token)).toEqual(ADA);
  // The document of the provider names another issuer than this one.
  writeFileSync(configuration, configurationText('new:', `${provider.issuer}/`));
  await until('the other issuer is refused', () => plane.log(0).includes('issuer did not match'));
  expect(await whoAmI(token)).toEqual(ADA);
  writeFileSync(configuration, configurationText('new:'));
  await untilKnownAs('new:ada@example.com', token);
});

test('an issuer that hangs holds no one up, and does not replace the configuration in use', async () => {
  const token = await pluginToken();
  const before = provider.hanging;
  provider.isHanging = true;
  writeFileSync(configuration, configurationText('late:'));
  await until('the server asks the issuer', () => provider.hanging > before);
  expect(nameOf(await whoAmI(token))).toBe('new:ada@example.com');
  provider.isHanging = false;
  writeFileSync(configuration, configurationText('last:'));
  await untilKnownAs('last:ada@example.com', token);
});

test('the console signs the person in, shows until when, uses the token and signs out', async () => {
  const own = join(directory, 'console-cache');
  const entry = { id: 'c', name: 'oidc', local: null } as unknown as ClusterEntry;
  const exec = {
    ...{ apiVersion: 'client.authentication.k8s.io/v1', command: 'pilothouse', env: {} },
    args: ['login', 'get-token', ...flags().filter((flag) => !flag.startsWith('--token-cache-dir'))].concat(
      `--token-cache-dir=${own}`,
    ),
    provideClusterInfo: false,
  };
  const config = { ...(await loadKubeconfig(kubeconfig)), auth: { exec } };
  const signIns = new SignIns({ clock: systemClock });
  try {
    expect(await signIns.state(entry, config)).toMatchObject({
      issuer: provider.issuer,
      name: null,
      url: null,
    });
    const before = await signIns.applied(entry, config);
    await expect(before.auth.tokenSource!.token(new AbortController().signal)).rejects.toThrow('sign in');
    const { url } = await signIns.begin(entry, config);
    await provider.browse(url!);
    await until('the sign-in', async () => (await signIns.state(entry, config))?.name !== null);
    const state = (await signIns.state(entry, config))!;
    expect(state).toMatchObject({ name: OIDC_CLIENT.email, isRenewed: true, url: null, problem: null });
    expect(state.expiresAtMs).toBeGreaterThan(Date.now());
    const { auth } = await signIns.applied(entry, config);
    expect(auth.exec).toBeUndefined();
    const token = await auth.tokenSource!.token(new AbortController().signal);
    expect(nameOf(await whoAmI(token))).toBe('last:ada@example.com');
    // A new sign-in asks the person although the token is good; cancelling it signs no one out.
    expect((await signIns.begin(entry, config)).url).toContain(provider.issuer);
    expect(await signIns.end(entry, config)).toMatchObject({ name: OIDC_CLIENT.email, url: null });
    expect(await signIns.end(entry, config)).toMatchObject({ name: null, expiresAtMs: null });
  } finally {
    signIns.dispose();
  }
});
