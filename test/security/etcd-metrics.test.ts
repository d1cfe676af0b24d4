import { connect, constants } from 'node:http2';
import { get } from 'node:http';
import { beforeAll, expect, inject, test } from 'vitest';
import { asStranger, stateOf } from './default-cluster.ts';

const data = inject('attackedData');
const METRICS_PORT = 2381;
let addresses: string[] = [];

beforeAll(async () => {
  const { hosts } = await stateOf(data);
  addresses = hosts.filter(({ name }) => name.startsWith('cp-')).map(({ address }) => address);
});

test.concurrent.each([
  ['read Secrets', ['get', '--prefix', '/registry/secrets/', '--print-value-only']],
  ['write', ['put', '/registry/clusterrolebindings/intruder', '{}']],
  ['delete', ['del', '--prefix', '/registry/intruders/']],
  ['take a snapshot', ['snapshot', 'save', '/tmp/stolen-by-a-stranger.db']],
  ['list members', ['member', 'list']],
  ['read the status of a member', ['endpoint', 'status']],
  ['move the leader', ['move-leader', '1']],
  ['grant a lease', ['lease', 'grant', '60']],
])('a local user cannot %s through the metrics listener of any member', async (_what, args) => {
  expect(addresses).toHaveLength(3);
  // A gRPC client keeps trying until its time is up.
  const limits = ['--dial-timeout=1s', '--command-timeout=1s'];
  const outcomes = await Promise.all(
    addresses.map((address) =>
      asStranger('etcdctl', [`--endpoints=http://${address}:${METRICS_PORT}`, ...limits, ...args]),
    ),
  );
  const rejected = { isRejected: true, stdout: '' };
  expect(outcomes.map(({ code, stdout }) => ({ isRejected: code !== 0, stdout }))).toEqual([
    ...[rejected, rejected, rejected],
  ]);
});

const statusOf = (address: string, path: string, headers: Record<string, string> = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    get({ host: address, port: METRICS_PORT, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).once('error', reject);
  });

test('health, version and metrics are all that it serves', async () => {
  const paths = ['/metrics', '/health', '/livez', '/readyz', '/version'];
  for (const address of addresses)
    expect(await Promise.all(paths.map((path) => statusOf(address, path)))).toEqual(paths.map(() => 200));
  const others = [
    '/',
    '/v2/keys',
    '/v3/kv/range',
    '/etcdserverpb.KV/Range',
    '/debug/pprof/',
    '//',
    '/metrics/..',
  ];
  for (const path of others) expect(await statusOf(addresses[0]!, path)).toBe(404);
  expect(
    await statusOf(addresses[0]!, '/etcdserverpb.KV/Range', { 'content-type': 'application/grpc' }),
  ).toBe(404);
});

test('HTTP/2 with prior knowledge is closed without an answer', async () => {
  const session = connect(`http://${addresses[0]!}:${METRICS_PORT}`);
  const outcome = await new Promise<string>((resolve) => {
    session.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
    session.once('close', () => resolve('closed'));
    const stream = session.request({ [constants.HTTP2_HEADER_PATH]: '/metrics' });
    stream.once('error', () => undefined);
    stream.once('response', (headers) => resolve(`answered ${headers[':status']}`));
  });
  session.destroy();
  expect(outcome).not.toMatch(/^answered/);
});
