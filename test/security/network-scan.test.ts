import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { POD, SERVICE, type OwnedClient } from '../../core/client/index.ts';
import { strangersKeySpace } from '../../core/cluster/checks/etcd-probe.ts';
import { componentPlaces, sortSockets, userPorts } from '../../core/cluster/checks/listeners.ts';
import {
  listeningSockets,
  socketsOfProcess,
  type ListeningSocket,
} from '../../core/cluster/checks/listening.ts';
import { answersPlainHttp, letsInWithoutCertificate } from '../../core/cluster/checks/network-probes.ts';
import { parseClusterConfig, type ClusterConfig } from '../../core/cluster/config/config.ts';
import type { PrintedFinding } from '../../main/cli/commands/findings.ts';
import { adminClient, pilothouse } from '../support/cluster.ts';
import { startCommand } from '../support/etcd-process.ts';
import { until } from '../support/until.ts';
import { asStranger, hostPids } from './default-cluster.ts';

const data = inject('attackedData');
const ANSWER_MS_MAX = 20_000;
/** Other attacks come and go beside this scan: what stays for this long is there intentionally. */
const SETTLE_MS_MAX = 60_000;

let client: OwnedClient;
let config: ClusterConfig;
let places: ReadonlyMap<string, string>;

beforeAll(async () => {
  client = await adminClient(data);
  const file = join(data, 'cluster.yaml');
  config = parseClusterConfig(readFileSync(file, 'utf8'), file);
  places = componentPlaces(config);
});
afterAll(() => client.dispose());

const placeOf = ({ address, port }: ListeningSocket): string => `${address}:${port}`;
const split = (place: string): [string, number] => {
  const at = place.lastIndexOf(':');
  return [place.slice(0, at), Number(place.slice(at + 1))];
};
const placesOf = (component: string): string[] =>
  [...places].filter(([, name]) => name === component).map(([place]) => place);

const parentOf = (pid: number): number =>
  Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Of the hosts, and of `pilothouse up`, which has the load balancer. */
const scan = async () => {
  const pids = Object.values(await hostPids(data)).filter((pid) => pid !== undefined);
  const inodes = await Promise.all([...new Set([...pids, ...pids.map(parentOf)])].map(socketsOfProcess));
  const sockets = await listeningSockets();
  const [services, pods] = await Promise.all([client.resource(SERVICE).list(), client.resource(POD).list()]);
  return sortSockets(sockets ?? [], {
    config,
    inodes: new Set(inodes.flatMap((set) => [...set])),
    userPorts: userPorts(services.items, pods.items),
  });
};

/** The status of a request without credentials; `closed` where there is none. */
const statusOf = (url: string): Promise<number | 'closed'> =>
  new Promise((resolve) => {
    const options = { agent: false, timeout: ANSWER_MS_MAX };
    const request = url.startsWith('https:')
      ? httpsRequest(url, { ...options, rejectUnauthorized: false })
      : httpRequest(url, options);
    request.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve('closed'));
    request.end();
  });

const statuses = async (place: string, scheme: string, paths: readonly string[]) =>
  Object.fromEntries(
    await Promise.all(
      paths.map(async (path) => [path, await statusOf(`${scheme}://${place}${path}`)] as const),
    ),
  );

test('every listener is a component’s or a declared object’s, of the cluster’s own processes, on loopback', async () => {
  const settled = await until(
    'only expected listeners',
    async () => {
      const { own, beyondLoopback, unexpected, foreign } = await scan();
      const wrong = [...beyondLoopback, ...unexpected, ...foreign].map(placeOf);
      if (wrong.length > 0) throw new Error(`unexpected listeners: ${wrong.join(', ')}`);
      return own;
    },
    SETTLE_MS_MAX,
  );
  const found = new Set(settled.map(placeOf));
  // Not on every host: kube-proxy runs on one, and the metrics server with the leading controller-manager.
  const isElsewhere = (place: string): boolean => /:(10249|10256|4443)$/.test(place) && !found.has(place);
  expect([...places.keys()].filter((place) => !found.has(place) && !isElsewhere(place))).toEqual([]);
});

test('etcd lets no one in without a client certificate, and never in plain text', async () => {
  const ports = placesOf('etcd').filter((place) => /:(2379|2380)$/.test(place));
  expect(ports.length).toBe(6);
  for (const place of ports) {
    const [address, port] = split(place);
    expect({
      place,
      tls: await letsInWithoutCertificate(address, port),
      plain: await answersPlainHttp(address, port),
    }).toEqual({ place, tls: false, plain: false });
  }
});

test('the metrics listener of a member has health and metrics, and nothing else', async () => {
  for (const place of placesOf('etcd').filter((one) => one.endsWith(':2381')))
    expect(
      await statuses(place, 'http', ['/metrics', '/health', '/v3/kv/range', '/etcdserverpb.KV/Range']),
    ).toEqual({
      '/metrics': 200,
      '/health': 200,
      '/v3/kv/range': 404,
      '/etcdserverpb.KV/Range': 404,
    });
});

test('API servers and their load balancer show strangers health and nothing else, and speak no plain HTTP', async () => {
  const kubernetes = await client.resource(SERVICE, 'default').get('kubernetes');
  const service = `${kubernetes.spec?.clusterIP}:443`;
  for (const place of [...placesOf('kube-apiserver'), ...placesOf('load balancer'), service]) {
    const seen = await statuses(place, 'https', [
      '/livez',
      '/readyz',
      '/api/v1/secrets',
      '/metrics',
      '/apis',
    ]);
    const [address, port] = split(place);
    expect({ place, ...seen, plain: await answersPlainHttp(address, port) }).toEqual({
      place,
      '/livez': 200,
      '/readyz': 200,
      '/api/v1/secrets': expect.toSatisfy((code) => code === 401 || code === 403),
      '/metrics': expect.toSatisfy((code) => code === 401 || code === 403),
      '/apis': expect.toSatisfy((code) => code === 401 || code === 403),
      plain: false,
    });
  }
});

test('kubelets show strangers nothing', async () => {
  for (const place of placesOf('kubelet')) {
    const [address, port] = split(place);
    const seen = await statuses(place, 'https', [
      '/pods',
      '/metrics',
      '/run/default/x/y',
      '/containerLogs/a/b/c',
    ]);
    expect({ place, ...seen, plain: await answersPlainHttp(address, port) }).toEqual({
      place,
      '/pods': 401,
      '/metrics': 401,
      '/run/default/x/y': 401,
      '/containerLogs/a/b/c': 401,
      plain: false,
    });
  }
});

test.each(['kube-scheduler', 'kube-controller-manager', 'cloud-controller-manager'])(
  '%s shows strangers whether it is healthy, and nothing else',
  async (component) => {
    const paths = [
      '/healthz',
      '/healthz/ping',
      '/metrics',
      '/configz',
      '/debug/controllers',
      '/debug/explanations',
      '/debug/what-if',
    ];
    for (const place of placesOf(component)) {
      const [address, port] = split(place);
      const { '/healthz': health, ...rest } = await statuses(place, 'https', paths);
      expect({ place, health, others: [...new Set(Object.values(rest))] }).toEqual({
        place,
        health: 200,
        others: [401],
      });
      expect(await answersPlainHttp(address, port)).toBe(false);
    }
  },
);

test('kube-proxy has health and metrics in plain HTTP, as upstream, and nothing else', async () => {
  const worker = placesOf('kube-proxy').find((place) => place.startsWith(`127.${config.spec.network}.16.`))!;
  const [address] = split(worker);
  expect([
    await statuses(`${address}:10249`, 'http', ['/metrics', '/configz', '/debug/pprof/']),
    await statuses(`${address}:10256`, 'http', ['/healthz', '/metrics']),
  ]).toEqual([
    { '/metrics': 200, '/configz': 404, '/debug/pprof/': 404 },
    { '/healthz': 200, '/metrics': 404 },
  ]);
});

test('kube-dns has health and metrics in plain HTTP, as CoreDNS, and nothing else', async () => {
  const ports = placesOf('kube-dns').filter((place) => place.endsWith(':9153'));
  expect(ports).toHaveLength(2);
  for (const place of ports)
    expect(await statuses(place, 'http', ['/metrics', '/health', '/ready', '/debug/pprof/'])).toEqual({
      '/metrics': 200,
      '/health': 200,
      '/ready': 200,
      '/debug/pprof/': 404,
    });
});

test('no port gives etcd’s keys to a stranger, by gRPC or JSON, in plain text or over TLS', async () => {
  const { own } = await scan();
  const ports = [...new Set(own.filter(({ protocol }) => protocol === 'TCP').map(placeOf))];
  const open: string[] = [];
  const waiting = [...ports];
  const worker = async (): Promise<void> => {
    for (let place = waiting.shift(); place !== undefined; place = waiting.shift())
      for (const way of await strangersKeySpace(...split(place))) open.push(`${place} ${way}`);
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  expect([open, ports.length >= places.size - 8]).toEqual([[], true]);
});

test('etcdctl of a local user reads nothing from any port of a control plane', async () => {
  const [controlPlane] = split(placesOf('kube-apiserver')[0]!);
  const ports = [...places.keys()].filter((place) => split(place)[0] === controlPlane);
  const attempts = ports.flatMap((place) => [`http://${place}`, `https://${place}`]);
  const read: string[] = [];
  const worker = async (): Promise<void> => {
    for (let endpoint = attempts.shift(); endpoint !== undefined; endpoint = attempts.shift()) {
      const { code, stdout } = await asStranger('etcdctl', [
        `--endpoints=${endpoint}`,
        '--insecure-skip-tls-verify',
        '--dial-timeout=1s',
        '--command-timeout=1s',
        'get',
        '/registry/',
        '--prefix',
        '--limit=1',
        '--keys-only',
      ]);
      if (code === 0 || stdout.includes('/registry')) read.push(endpoint);
    }
  };
  await Promise.all(Array.from({ length: 6 }, worker));
  expect(read).toEqual([]);
});

test('pilothouse check passes, and reports a port that serves etcd’s keys in plain text', async () => {
  const exposureOf = async (): Promise<PrintedFinding | undefined> => {
    const { stdout } = await pilothouse('check', '--data', data, '-o', 'json');
    return (JSON.parse(stdout) as PrintedFinding[]).find(({ id }) => id === 'noExposure');
  };
  const before = await until('a check without findings', async () => {
    const finding = await exposureOf();
    if (finding?.verdict !== 'ok') throw new Error(finding?.message);
    return finding;
  });
  const folder = mkdtempSync(join(tmpdir(), 'pilothouse-exposed-'));
  const host = `127.${config.spec.network}.0.201`;
  const member = startCommand(
    'component',
    'etcd',
    `--data-dir=${folder}`,
    `--listen-client-urls=http://${host}:2379`,
    `--advertise-client-urls=http://${host}:2379`,
    `--listen-peer-urls=http://${host}:2380`,
    `--initial-advertise-peer-urls=http://${host}:2380`,
    `--initial-cluster=default=http://${host}:2380`,
  );
  try {
    await until('the exposed member', async () => (await strangersKeySpace(host, 2379)).length > 0);
    const during = await exposureOf();
    expect([before.verdict, during?.verdict]).toEqual(['ok', 'problem']);
    expect(during?.message).toContain(`served to strangers on ${host}:2379 in plain text`);
    expect(during?.message).toMatch(new RegExp(`another program listens on .*${host}:2379`));
  } finally {
    await member.kill('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  }
});
