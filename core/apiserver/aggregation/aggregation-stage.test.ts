import { createServer, type Server } from 'node:https';
import { once } from 'node:events';
import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair, type Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { seededRandom } from '../../base/random.ts';
import { alternativeNames, createAuthority, issueLeaf, openAuthority } from '../../pki/index.ts';
import { userInfo } from '../server/user.ts';
import { RequestContext } from '../server/context.ts';
import { fakeContext, type FakeRequest } from '../server/testing/fake-context.ts';
import { createServiceResolver } from '../webhook/service-resolver.ts';
import { aggregationStage } from './aggregation-stage.ts';
import { remoteOf } from './api-service.ts';
import { createRemoteClient } from './remote-client.ts';
import { apiService, extService, extSlice, readerOf } from './testing/fixtures.ts';

const servers = createAuthority({ commonName: 'servers', clock: systemClock });
const proxies = createAuthority({ commonName: 'front-proxy-ca', clock: systemClock });
const serving = issueLeaf(openAuthority(servers), {
  subject: { commonName: 'api' },
  usages: ['server'],
  alternativeNames: alternativeNames(['api.ext.svc']),
  clock: systemClock,
});
const proxy = issueLeaf(openAuthority(proxies), {
  subject: { commonName: 'front-proxy-client' },
  usages: ['client'],
  clock: systemClock,
});

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

interface Asked {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly certificate: string | undefined;
}

const HOST = '127.0.0.7';

const start = async (
  answer: (response: ServerResponse) => void,
): Promise<{ port: number; asked: Asked[] }> => {
  const asked: Asked[] = [];
  server = createServer(
    {
      cert: serving.certificatePem,
      key: serving.privateKeyPem,
      ca: proxies.certificatePem,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      const { subject } = (request.socket as TLSSocket).getPeerCertificate();
      asked.push({ url: request.url, headers: request.headers, certificate: subject.CN as string });
      answer(response);
    },
  );
  server.listen(0, HOST);
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, asked };
};

const bundle = Buffer.from(servers.certificatePem).toString('base64');

const send = async (
  port: number,
  request: FakeRequest,
  object = apiService({ caBundle: bundle }, 'True'),
  upgraded?: Duplex,
): Promise<{ result: string; code: number; text: string }> => {
  const service = remoteOf(object)!;
  const stage = aggregationStage({
    client: createRemoteClient({
      resolve: createServiceResolver({
        reader: readerOf({ services: [extService()], slices: [extSlice(HOST, port)] }),
        random: seededRandom(1),
        advertiseAddress: '127.0.0.1',
      }),
      identity: () => ({ cert: proxy.certificatePem, key: proxy.privateKeyPem }),
    }),
    find: (group, version) => (group === service.group && version === service.version ? service : undefined),
  });
  const { context: plain, sent } = fakeContext(request);
  const context = upgraded
    ? new RequestContext({
        auditId: plain.auditId,
        startedAtMs: plain.startedAtMs,
        request: {
          ...plain.request,
          isUpgrade: true,
          upgrade: () => ({ socket: upgraded, head: Buffer.alloc(0) }),
        },
        response: plain.response,
        info: plain.info,
      })
    : plain;
  context.user = request.user;
  const result = await stage.run(context);
  return { result, code: sent.code, text: sent.text() };
};

const URL = '/apis/wardle.example.com/v1alpha1/namespaces/a/flunders?limit=5';
const user = userInfo('jöhn', ['dev', 'system:authenticated'], {
  uid: 'u1',
  extra: { 'example.com/Scopes': ['a', 'b'] },
});

test('an upgrade passes as its user, and bytes follow in both directions', async () => {
  const { port } = await start((response) => response.end());
  const upgrades: IncomingHttpHeaders[] = [];
  server!.on('upgrade', (request, socket) => {
    upgrades.push(request.headers);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  const [client, socket] = duplexPair();
  const headers = { connection: 'Upgrade', upgrade: 'echo', 'content-length': '0' };
  const over = send(port, { url: URL, user, headers }, undefined, socket);
  let text = '';
  for await (const chunk of client.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.endsWith('\r\n\r\n')) client.write('hello');
    if (text.endsWith('hello')) break;
  }
  client.destroy();
  socket.destroy();
  await over;
  expect([text.split('\r\n')[0], upgrades.map((sent) => sent['x-remote-uid'])]).toEqual([
    'HTTP/1.1 101 Switching Protocols',
    ['u1'],
  ]);
});

test("a request passes as its user, with the front-proxy certificate and without the client's own credentials", async () => {
  const { port, asked } = await start((response) => response.end('{"kind":"FlunderList"}'));
  const answer = await send(port, {
    url: URL,
    user,
    headers: {
      authorization: 'Bearer secret',
      'x-remote-user': 'admin',
      'x-remote-group': 'system:masters',
      'x-remote-extra-scopes': 'all',
      'impersonate-user': 'admin',
      accept: 'application/json',
    },
  });
  const { headers, ...rest } = asked[0]!;
  expect({ answer, rest, via: headers.via, audit: headers['audit-id'], accept: headers.accept }).toEqual({
    answer: { result: 'done', code: 200, text: '{"kind":"FlunderList"}' },
    rest: { url: URL, certificate: 'front-proxy-client' },
    via: '1.1 kube-aggregator',
    audit: 'test',
    accept: 'application/json',
  });
  const identity = Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^(x-remote|authorization|impersonate)/.test(name)),
  );
  expect(identity).toEqual({
    'x-remote-user': Buffer.from('jöhn').toString('latin1'),
    'x-remote-uid': 'u1',
    'x-remote-group': 'dev, system:authenticated',
    'x-remote-extra-example.com%2fscopes': 'a, b',
  });
});

test('an APIService that is not available answers 503, and nothing is asked', async () => {
  const { port, asked } = await start((response) => response.end());
  const answer = await send(port, { url: URL, user }, apiService({ caBundle: bundle }, 'False'));
  expect([answer, asked]).toEqual([{ result: 'done', code: 503, text: 'service unavailable\n' }, []]);
});

test('a certificate of another authority, or for another name, is not talked to', async () => {
  const { port, asked } = await start((response) => response.end());
  const other = Buffer.from(proxies.certificatePem).toString('base64');
  const answer = await send(port, { url: URL, user }, apiService({ caBundle: other }, 'True'));
  expect([answer.code, answer.text, asked]).toEqual([
    503,
    'error trying to reach service: tls: failed to verify certificate: x509: certificate signed by unknown authority\n',
    [],
  ]);
});

test('a redirect is not passed on', async () => {
  const { port } = await start((response) => {
    response.writeHead(302, { location: 'https://elsewhere.example.com/' });
    response.end();
  });
  expect(await send(port, { url: URL, user })).toEqual({
    result: 'done',
    code: 502,
    text: 'the backend attempted to redirect this request, which is not permitted',
  });
});

test('an APIService that leads back to the aggregator is cut off', async () => {
  const { port, asked } = await start((response) => response.end());
  const answer = await send(port, { url: URL, user, headers: { via: '1.1 kube-aggregator' } });
  expect([answer.code, asked]).toEqual([508, []]);
});

test('a name that no header can carry is refused', async () => {
  const { port, asked } = await start((response) => response.end());
  const answer = await send(port, { url: URL, user: userInfo('a\r\nx-remote-group: system:masters') });
  expect([answer.code, asked]).toEqual([500, []]);
});

test("other group versions are this server's own", async () => {
  expect(await send(1, { url: '/apis/wardle.example.com/v1/flunders', user })).toMatchObject({
    result: 'next',
  });
});
