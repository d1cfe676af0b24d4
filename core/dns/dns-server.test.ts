import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { systemClock } from '../base/node/clock.ts';
import { exchange, type DnsServerAddress } from './exchange/exchange.ts';
import { frame, FrameReader } from './exchange/frames.ts';
import { fixedSource, serviceOf, sliceOf, SPECIFIED } from './testing/fixed-source.ts';
import { startTestServer } from './testing/server.ts';
import {
  CLASS_IN,
  decodeMessage,
  encodeMessage,
  message,
  rcodeText,
  TYPE,
  type Message,
} from './wire/index.ts';

const NET = `127.${128 + ((process.pid * 4 + 3) % 120)}`;
const bind: DnsServerAddress = { host: `${NET}.53.1`, port: 4053 };
const closers: (() => void)[] = [];
afterEach(() => closers.splice(0).forEach((close) => close()));

const many = Array.from({ length: 120 }, (_, index) => ({ address: `10.9.0.${index}` }));
const source = fixedSource({
  services: [
    ...SPECIFIED.services!,
    serviceOf({ name: 'large' }),
    serviceOf({ name: 'upstream', addresses: ['10.8.0.1'] }),
  ],
  slices: [...SPECIFIED.slices!, sliceOf({ service: 'large', endpoints: many })],
});

const start = async (options: Partial<Parameters<typeof startTestServer>[0]> = {}) => {
  const server = await startTestServer({ bind, source, ...options });
  closers.push(server.close);
  return server;
};

const query = (name: string, parts: Partial<Message> = {}, type: number = TYPE.A): Message =>
  message({ id: 4711, isRecursionDesired: true, questions: [{ name, type, class: CLASS_IN }], ...parts });
const options = { clock: systemClock, timeoutMs: 5_000 };
const ask = (asked: Message, at = bind): Promise<Message> => exchange(at, asked, options);
const addressesOf = ({ answers }: Message): string[] =>
  answers.flatMap(({ data }) => (data.kind === 'address' ? [data.address] : [])).sort();

/** One datagram and its answer, without the second try over TCP. */
const datagram = async (bytes: Uint8Array): Promise<Buffer> => {
  const socket = createSocket('udp4');
  socket.send(bytes, bind.port, bind.host);
  const [answer] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  return answer;
};

test('a name is answered with authority, and its case is kept', async () => {
  await start();
  const answer = await ask(query('Kubernetes.DEFAULT.svc.cluster.local.'));
  expect([
    rcodeText(answer.rcode),
    answer.isAuthoritative,
    answer.isRecursionDesired,
    answer.answers,
  ]).toEqual([
    'NOERROR',
    true,
    true,
    [
      {
        name: 'Kubernetes.DEFAULT.svc.cluster.local.',
        type: TYPE.A,
        class: CLASS_IN,
        ttlSeconds: 30,
        data: { kind: 'address', address: '10.3.0.1' },
      },
    ],
  ]);
});

test('an answer that is too long for a datagram is cut, and complete over TCP or with EDNS', async () => {
  await start();
  const name = 'large.default.svc.cluster.local.';
  const cut = decodeMessage(await datagram(encodeMessage(query(name))));
  expect([cut.isTruncated, cut.answers.length < 120]).toEqual([true, true]);
  expect(addressesOf(await ask(query(name)))).toHaveLength(120);
  const edns = { udpBytes: 4096, version: 0, isDnssecOk: false, options: [] };
  const complete = decodeMessage(await datagram(encodeMessage(query(name, { edns }))));
  expect([complete.isTruncated, complete.answers.length, complete.edns?.udpBytes]).toEqual([
    false,
    120,
    1232,
  ]);
});

test('questions of one connection are all answered', async () => {
  await start();
  const socket = connect(bind);
  const names = ['kubernetes', 'dual', 'nothing'];
  const frames = names.map((name, id) =>
    frame(encodeMessage(query(`${name}.default.svc.cluster.local.`, { id }))),
  );
  // In pieces that are no messages.
  const bytes = Buffer.concat(frames);
  socket.write(bytes.subarray(0, 5));
  socket.write(bytes.subarray(5));
  const reader = new FrameReader();
  const answers: Message[] = [];
  for await (const chunk of socket) {
    answers.push(...reader.read(chunk as Buffer).map((one) => decodeMessage(one)));
    if (answers.length === names.length) break;
  }
  expect(answers.map(({ id, rcode }) => `${id} ${rcodeText(rcode)}`).sort()).toEqual([
    '0 NOERROR',
    '1 NOERROR',
    '2 NXDOMAIN',
  ]);
});

test.each<[string, Message, string]>([
  ['a name of somebody else', query('example.com.'), 'REFUSED'],
  ['an unknown address', query('9.9.9.10.in-addr.arpa.', {}, TYPE.PTR), 'REFUSED'],
  ['a transfer', query('cluster.local.', {}, TYPE.AXFR), 'REFUSED'],
  ['an update', query('cluster.local.', { opcode: 5 }), 'NOTIMP'],
  ['another class', message({ questions: [{ name: 'cluster.local.', type: TYPE.A, class: 3 }] }), 'REFUSED'],
  [
    'a later EDNS',
    query('cluster.local.', { edns: { udpBytes: 1232, version: 1, isDnssecOk: false, options: [] } }),
    'BADVERS',
  ],
])('%s is %s', async (_, asked, rcode) => {
  await start();
  expect(rcodeText(decodeMessage(await datagram(encodeMessage(asked))).rcode)).toBe(rcode);
});

test('malformed messages get FORMERR, and responses are ignored', async () => {
  const { registry } = await start();
  const garbage = Uint8Array.from([1, 2, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0]);
  const socket = createSocket('udp4');
  socket.send(encodeMessage(query('cluster.local.', { isResponse: true })), bind.port, bind.host);
  socket.send(Uint8Array.from([1, 2, 3]), bind.port, bind.host);
  socket.send(garbage, bind.port, bind.host);
  const [answer] = (await once(socket, 'message')) as [Buffer];
  socket.close();
  expect([decodeMessage(answer).id, rcodeText(decodeMessage(answer).rcode)]).toEqual([0x102, 'FORMERR']);
  expect(registry.expose()).not.toContain('coredns_panics_total 1');
});

test('other names are asked upstream, aliases continue there, and answers are kept', async () => {
  const upstream: DnsServerAddress = { host: `${NET}.53.2`, port: 4053 };
  const other = fixedSource({
    services: [serviceOf({ name: 'www', namespace: 'default', addresses: ['192.0.2.53'] })],
  });
  // The upstream serves a zone of its own; names of it are foreign to the server that is tested.
  const running = await startTestServer({ bind: upstream, source: other, zone: 'example.com.' });
  const alias = serviceOf({ name: 'out', externalName: 'www.default.svc.example.com' });
  const own = fixedSource({ services: [alias] });
  const { registry } = await start({ source: own, upstreams: [upstream] });
  const name = 'www.default.svc.example.com.';
  const first = await ask(query(name));
  const denied = await ask(query('nothing.default.svc.example.com.'));
  const chased = await ask(query('out.default.svc.cluster.local.'));
  running.close();
  const [kept, stillDenied] = [await ask(query(name)), await ask(query('nothing.default.svc.example.com.'))];
  expect([addressesOf(first), addressesOf(chased), addressesOf(kept)]).toEqual([
    ['192.0.2.53'],
    ['192.0.2.53'],
    ['192.0.2.53'],
  ]);
  expect([denied, stillDenied, chased].map(({ rcode }) => rcodeText(rcode))).toEqual([
    'NXDOMAIN',
    'NXDOMAIN',
    'NOERROR',
  ]);
  expect(rcodeText((await ask(query('late.example.com.'))).rcode)).toBe('SERVFAIL');
  expect(registry.expose()).toMatch(/coredns_cache_hits_total\{.*type="denial".*\} 1/);
});

test('health, readiness and metrics have CoreDNS’s paths and names', async () => {
  const metrics = { host: `${NET}.53.1`, port: 4153 };
  await start({ metrics });
  await ask(query('kubernetes.default.svc.cluster.local.'));
  const get = async (path: string) => {
    const response = await fetch(`http://${metrics.host}:${metrics.port}${path}`);
    return { status: response.status, body: await response.text() };
  };
  expect([await get('/health'), await get('/ready'), (await get('/nothing')).status]).toEqual([
    { status: 200, body: 'OK' },
    { status: 200, body: 'OK' },
    404,
  ]);
  const { body } = await get('/metrics');
  const server = `dns://${bind.host}:${bind.port}`;
  expect(body).toContain(
    `coredns_dns_requests_total{family="1",proto="udp",server="${server}",type="A",view="",zone="cluster.local."} 1`,
  );
  expect(body).toContain('coredns_dns_responses_total{plugin="kubernetes",rcode="NOERROR"');
});
