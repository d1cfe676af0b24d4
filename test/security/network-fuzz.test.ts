import { connect as connectPlain } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { seededRandom, type Random } from '../../core/base/random.ts';
import { SERVICE, type OwnedClient } from '../../core/client/index.ts';
import { adminClient } from '../support/cluster.ts';
import { hostPids, stateOf } from './default-cluster.ts';

const data = inject('attackedData');
const INPUTS = 10_000;
/** Requests of one connection; what cannot be read comes last, since it ends the connection. */
const BATCH = 50;
const AT_ONCE = 8;
const SEED = 90_210;
const EXCHANGE_MS_MAX = 20_000;

let client: OwnedClient;
let controlPlanes: readonly string[];
let network: string;
beforeAll(async () => {
  client = await adminClient(data);
  const { hosts } = await stateOf(data);
  controlPlanes = hosts.filter(({ name }) => name.startsWith('cp-')).map(({ address }) => address);
  network = controlPlanes[0]!.split('.').slice(0, 2).join('.');
});
afterAll(() => client.dispose());

const pick = <T>(random: Random, values: readonly T[]): T => values[random.below(values.length)]!;
const bytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)));

const TARGETS = [
  ...['/', '//', '/healthz', '/healthz/', '/livez?verbose', '/readyz?exclude=%', '/metrics', '/configz', '*'],
  ...[
    '/%',
    '/%00',
    '/..%2f..',
    `/${'a/'.repeat(500)}`,
    '/debug/what-if',
    '/debug/explanations?limit=-1',
    '/?%E0%A4%A',
  ],
  ...[
    'http://',
    'http://x:99999/',
    'https://[::1/',
    '/\u00ff',
    '/healthz?\u00e9',
    '/debug/pprof/../../metrics',
  ],
];
const HEADERS = [
  ...[
    'Authorization: Bearer ',
    'Authorization: Bearer \u00ff',
    `Authorization: Bearer ${'a.b.c'.repeat(200)}`,
  ],
  ...[
    'X-Remote-User: system:admin',
    'X-Remote-Group: system:masters',
    'Host: ',
    'Range: bytes=9-1',
    'Expect: x',
  ],
  ...['Connection: upgrade\r\nUpgrade: h2c', 'Accept: */*;q=', 'Cookie: =;=', `X: ${'y'.repeat(2000)}`],
];

/** One request whose form is right and whose content is not. */
const request = (random: Random): Buffer => {
  const method = pick(random, ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE', 'PATCH']);
  const body = method === 'POST' || method === 'PUT' ? bytes(random, random.below(64)) : Buffer.alloc(0);
  const headers = Array.from({ length: random.below(3) }, () => pick(random, HEADERS));
  const head = [
    `${method} ${pick(random, TARGETS)} HTTP/1.1`,
    'Host: x',
    `Content-Length: ${body.length}`,
    ...headers,
  ];
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
};

/** Writes, half-closes or resets, and waits until the other side has closed. What it answers does not matter. */
const exchange = (place: string, input: Buffer, how: 'tls' | 'plain', isReset = false): Promise<void> =>
  new Promise((resolve) => {
    const [host = '', port = ''] = place.split(':');
    const options = { host, port: Number(port) };
    const send = (): void => {
      if (isReset) {
        socket.write(input);
        socket.destroy();
      } else socket.end(input);
    };
    const socket =
      how === 'tls'
        ? connectTls({ ...options, rejectUnauthorized: false }, send)
        : connectPlain(options, send);
    socket.setTimeout(EXCHANGE_MS_MAX, () => socket.destroy());
    socket.resume();
    socket.once('close', () => resolve());
    socket.once('error', () => undefined);
  });

const inParallel = async (count: number, work: (index: number) => Promise<void>): Promise<void> => {
  let next = 0;
  const worker = async (): Promise<void> => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
};

/** Ten thousand requests over the places in turn, in batches that end with bytes that are no request. */
const fuzzHttp = async (places: readonly string[], how: 'tls' | 'plain', seed: number): Promise<void> => {
  await inParallel(INPUTS / BATCH, async (index) => {
    const random = seededRandom(seed + index);
    const inputs = Array.from({ length: BATCH - 1 }, () => request(random));
    const last = bytes(random, 1 + random.below(200));
    await exchange(pick(random, places), Buffer.concat([...inputs, last]), how);
  });
};

/** The same hosts run as before, and still answer. */
const claimUnharmed = async (before: Awaited<ReturnType<typeof hostPids>>): Promise<void> => {
  expect(await hostPids(data)).toEqual(before);
  const { hosts } = await stateOf(data);
  const down = hosts.flatMap(({ name, components }) =>
    components.filter(({ phase }) => phase !== 'ready').map((component) => `${name} ${component.name}`),
  );
  expect(down).toEqual([]);
  await client.resource(SERVICE, 'default').get('kubernetes');
};

test('the secure ports of the managers outlive ten thousand hostile requests', async () => {
  const before = await hostPids(data);
  const places = controlPlanes.flatMap((address) =>
    [10_257, 10_258, 10_259].map((port) => `${address}:${port}`),
  );
  await fuzzHttp(places, 'tls', SEED);
  await claimUnharmed(before);
});

test('health and metrics of kube-proxy outlive ten thousand hostile requests', async () => {
  const before = await hostPids(data);
  await fuzzHttp([`${network}.16.1:10249`, `${network}.16.1:10256`], 'plain', SEED + 1_000_000);
  await claimUnharmed(before);
});

test('load balancer, service address and node port outlive ten thousand connections of garbage', async () => {
  const name = 'fuzzed-node-port';
  const { spec } = await client.resource(SERVICE, 'default').create({
    metadata: { name },
    spec: { type: 'NodePort', selector: { none: 'none' }, ports: [{ port: 80, protocol: 'TCP' }] },
  });
  try {
    const before = await hostPids(data);
    const places = [
      `${network}.0.100:6443`,
      `${network}.64.1:443`,
      `${network}.16.1:${spec?.ports?.[0]?.nodePort}`,
    ];
    await inParallel(INPUTS, async (index) => {
      const random = seededRandom(SEED + 2_000_000 + index);
      const input = random.next() < 0.5 ? bytes(random, random.below(300)) : request(random);
      await exchange(pick(random, places), input, 'plain', random.next() < 0.3);
    });
    await claimUnharmed(before);
  } finally {
    await client.resource(SERVICE, 'default').delete(name);
  }
});
