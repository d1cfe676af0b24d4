import { request } from 'node:https';
import { afterEach, expect, test } from 'vitest';
import { Registry } from '../base/metrics/index.ts';
import { silentLog } from '../base/log.ts';
import { systemClock } from '../base/node/clock.ts';
import {
  alternativeNames,
  createAuthority,
  issueLeaf,
  openAuthority,
  type Credential,
} from '../pki/index.ts';
import type { DelegatedAccess } from './delegated-access.ts';
import { HealthRegistry } from './health.ts';
import { createSecureServer, type SecureServer } from './secure-server.ts';

const authority = createAuthority({ commonName: 'kubernetes', clock: systemClock });
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

const start = async (given: DelegatedAccess | undefined): Promise<number> => {
  const serving = leaf(authority, 'kube-scheduler', 'server');
  const metrics = new Registry();
  metrics.counter({ name: 'things_total', help: 'Things.' }).inc();
  server = createSecureServer({
    serving: { cert: serving.certificatePem, key: serving.privateKeyPem, clientCa: authority.certificatePem },
    health: new HealthRegistry(silentLog),
    metrics,
    pages: { '/configz': () => Promise.resolve({ profile: 'default' }) },
    access: given,
    clock: systemClock,
    log: silentLog,
  });
  return (await server.listen(0, '127.0.0.1')).port;
};

interface Ask {
  readonly path: string;
  readonly credential?: Credential;
  readonly token?: string;
}

const ask = (port: number, { path, credential, token }: Ask): Promise<{ code: number; text: string }> =>
  new Promise((resolve, reject) => {
    request(
      {
        host: '127.0.0.1',
        port,
        path,
        agent: false,
        ca: authority.certificatePem,
        ...(credential && { cert: credential.certificatePem, key: credential.privateKeyPem }),
        ...(token && { headers: { authorization: `Bearer ${token}` } }),
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
