import type { OutgoingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { connect, type ConnectionOptions } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { Registry } from '../base/metrics/index.ts';
import { silentLog } from '../base/log.ts';
import { systemClock } from '../base/node/clock.ts';
import { tlsSettings, type TlsSettings } from '../base/node/tls-settings.ts';
import {
  alternativeNames,
  createAuthority,
  issueLeaf,
  openAuthority,
  type Credential,
} from '../pki/index.ts';
import { DEFAULT_FRONT_PROXY } from './callers.ts';
import type { DelegatedAccess } from './delegated-access.ts';
import { HealthRegistry } from './health.ts';
import { createSecureServer, type SecureServer } from './secure-server.ts';

const authority = createAuthority({ commonName: 'kubernetes', clock: systemClock });
const frontProxyAuthority = createAuthority({ commonName: 'front-proxy', clock: systemClock });
const stranger = createAuthority({ commonName: 'stranger', clock: systemClock });
const leaf = (root: Credential, commonName: string, usage: 'client' | 'server'): Credential =>
  issueLeaf(openAuthority(root), {
    subject: { commonName, organizations: ['monitors'] },
    usages: [usage],
    alternativeNames: alternativeNames(['127.0.0.1']),
    clock: systemClock,
  });

const access: DelegatedAccess = {
  reviewToken: (token) => Promise.resolve(token === 'good' ? { name: 'prometheus', groups: [] } : undefined),
  mayAccess: (caller, { path }) =>
    Promise.resolve(
      caller.name === 'prometheus' || (caller.groups.includes('monitors') && path === '/metrics'),
    ),
};

let server: SecureServer | undefined;
afterEach(async () => server?.close());

const servingFiles = () => {
  const { certificatePem, privateKeyPem } = leaf(authority, 'kube-scheduler', 'server');
  return {
    cert: certificatePem,
    key: privateKeyPem,
    clientCa: authority.certificatePem,
    frontProxyCa: frontProxyAuthority.certificatePem,
  };
};

const start = async (given: DelegatedAccess | undefined, tls?: TlsSettings): Promise<number> => {
  const metrics = new Registry();
  metrics.counter({ name: 'things_total', help: 'Things.' }).inc();
  server = createSecureServer({
    serving: servingFiles(),
    tls,
    health: new HealthRegistry(silentLog),
    metrics,
    pages: { '/configz': () => Promise.resolve({ profile: 'default' }) },
    access: given,
    frontProxy: { ...DEFAULT_FRONT_PROXY, allowedNames: ['front-proxy-client'] },
    clock: systemClock,
    log: silentLog,
  });
  return (await server.listen(0, '127.0.0.1')).port;
};

interface Ask {
  readonly path: string;
  readonly credential?: Credential;
  readonly token?: string;
  readonly headers?: OutgoingHttpHeaders;
}

const ask = (
  port: number,
  { path, credential, token, headers }: Ask,
): Promise<{ code: number; text: string }> =>
  new Promise((resolve, reject) => {
    request(
      {
        host: '127.0.0.1',
        port,
        path,
        agent: false,
        ca: authority.certificatePem,
        ...(credential && { cert: credential.certificatePem, key: credential.privateKeyPem }),
        headers: { ...headers, ...(token && { authorization: `Bearer ${token}` }) },
      },
      (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        answer.on('end', () => resolve({ code: answer.statusCode ?? 0, text }));
      },
    )
      .on('error', reject)
      .end();
  });

test.each<[string, number, Omit<Ask, 'port'>]>([
  ['health is open to everybody', 200, { path: '/healthz' }],
  ['metrics are not', 401, { path: '/metrics' }],
  [
    'a certificate of the authority is a caller',
    200,
    { path: '/metrics', credential: leaf(authority, 'm', 'client') },
  ],
  ['who must be allowed', 403, { path: '/configz', credential: leaf(authority, 'm', 'client') }],
  [
    'a certificate of another authority is nobody',
    401,
    { path: '/metrics', credential: leaf(stranger, 'm', 'client') },
  ],
  ['a token is reviewed', 200, { path: '/configz', token: 'good' }],
  ['a bad token is nobody', 401, { path: '/configz', token: 'bad' }],
  ['what is not there is not found', 404, { path: '/debug', token: 'good' }],
  ['a single health check is not open', 401, { path: '/healthz/ping' }],
  ['a single health check is answered to who may', 200, { path: '/healthz/ping', token: 'good' }],
  [
    'a front proxy speaks for the user it names',
    200,
    {
      path: '/configz',
      credential: leaf(frontProxyAuthority, 'front-proxy-client', 'client'),
      headers: { 'X-Remote-User': 'prometheus' },
    },
  ],
  [
    'and for its groups',
    200,
    {
      path: '/metrics',
      credential: leaf(frontProxyAuthority, 'front-proxy-client', 'client'),
      headers: { 'X-Remote-User': 'someone', 'X-Remote-Group': ['others', 'monitors'] },
    },
  ],
  [
    'a front proxy is nobody by itself',
    401,
    { path: '/metrics', credential: leaf(frontProxyAuthority, 'front-proxy-client', 'client') },
  ],
  [
    'another name of that authority is no front proxy',
    401,
    {
      path: '/metrics',
      credential: leaf(frontProxyAuthority, 'prometheus', 'client'),
      headers: { 'X-Remote-User': 'prometheus' },
    },
  ],
  [
    'a client speaks for nobody else',
    403,
    {
      path: '/configz',
      credential: leaf(authority, 'front-proxy-client', 'client'),
      headers: { 'X-Remote-User': 'prometheus' },
    },
  ],
  ['headers alone are nothing', 401, { path: '/configz', headers: { 'X-Remote-User': 'prometheus' } }],
])('%s: %i', async (_claim, code, question) => {
  expect(await ask(await start(access), question)).toMatchObject({ code });
});

test('without an API server to ask, nothing but health is answered', async () => {
  const port = await start(undefined);
  expect(await ask(port, { path: '/readyz' })).toMatchObject({ code: 200 });
  expect(await ask(port, { path: '/metrics', credential: leaf(authority, 'm', 'client') })).toMatchObject({
    code: 403,
  });
});

test('metrics are exposed in the Prometheus format', async () => {
  const { text } = await ask(await start(access), { path: '/metrics', token: 'good' });
  expect(text).toContain('things_total 1');
});

/** The suite that was agreed on, or the code of the failure. */
const handshake = (port: number, options: ConnectionOptions): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificatePem, ...options }, () => {
      resolve(socket.getCipher().name);
      socket.destroy();
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
  });
const CBC: ConnectionOptions = { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' };

test('a CBC suite is not agreed on, also not after the certificate was renewed', async () => {
  const port = await start(access);
  const before = await handshake(port, CBC);
  server!.setServing(servingFiles());
  expect([before, await handshake(port, CBC), await handshake(port, { maxVersion: 'TLSv1.2' })]).toEqual([
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'ECDHE-ECDSA-AES128-GCM-SHA256',
  ]);
});

test('suites and the oldest version are what the settings say', async () => {
  const weak = await start(access, tlsSettings({ cipherSuites: ['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA'] }));
  expect(await handshake(weak, CBC)).toBe('ECDHE-ECDSA-AES128-SHA');
  await server!.close();
  const modern = await start(access, tlsSettings({ minVersion: 'TLSv1.3' }));
  expect([await handshake(modern, { maxVersion: 'TLSv1.2' }), await handshake(modern, {})]).toEqual([
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    'TLS_AES_128_GCM_SHA256',
  ]);
});

test('a request target that is no URL is a bad request', async () => {
  expect(await ask(await start(access), { path: '//' })).toMatchObject({ code: 400 });
});
