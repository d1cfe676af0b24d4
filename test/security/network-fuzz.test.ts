import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { NAMESPACE, POD, SERVICE, SERVICE_ACCOUNT, type OwnedClient } from '../../core/client/index.ts';
import { componentPlaces } from '../../core/cluster/checks/listeners.ts';
import { parseClusterConfig } from '../../core/cluster/config/config.ts';
import { adminClient } from '../support/cluster.ts';
import { hostileBytes, hostileInput, type RequestRules } from '../support/hostile-requests.ts';
import { resolveAt, sendHostileDatagrams, sendHostileFrames } from '../support/hostile-dns.ts';
import { sendHostile, type HostileInput, type Tally } from '../support/hostile-traffic.ts';
import { oddTlsRecord } from '../support/etcd-fuzz.ts';
import { until } from '../support/until.ts';
import { attackedApi } from './api-client.ts';
import { hostPids, stateOf } from './default-cluster.ts';

/** Of each listener: so many are really read, since each is answered or ends its connection before the next is sent. */
const INPUTS = 10_000;
const CONNECTIONS = 8;
const SEED = 90_210;

const data = inject('attackedData');
const namespace = 'fuzzed';
const file = join(data, 'cluster.yaml');
const places = componentPlaces(parseClusterConfig(readFileSync(file, 'utf8'), file));
const placesOf = (component: string): string[] =>
  [...places].filter(([, name]) => name === component).map(([place]) => place);
const onPort = (component: string, port: number): string[] =>
  placesOf(component).filter((place) => place.endsWith(`:${port}`));

let client: OwnedClient;
let token: string;
let before: Awaited<ReturnType<typeof hostPids>>;
/** A pod that answers, and the service in front of it. */
let [podPlace, servicePlace, nodePlace] = ['', '', ''];

beforeAll(async () => {
  client = await adminClient(data);
  before = await hostPids(data);
  await client.resource(NAMESPACE).create({ metadata: { name: namespace } });
  await until('the default service account', () =>
    client
      .resource(SERVICE_ACCOUNT, namespace)
      .get('default')
      .then(() => true),
  );
  const api = await attackedApi(data);
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/default/token`;
  const minted = await api.json({ ...api.admin, method: 'POST', path, body: { spec: {} } }, 201);
  token = (minted['status'] as { token: string }).token;
  await client.resource(POD, namespace).create({
    metadata: { name: 'web', labels: { app: 'web' } },
    spec: { containers: [{ name: 'app', image: 'nginx:1', ports: [{ containerPort: 80 }] }] },
  });
  const { spec } = await client.resource(SERVICE, namespace).create({
    metadata: { name: 'web' },
    spec: { type: 'NodePort', selector: { app: 'web' }, ports: [{ port: 80, protocol: 'TCP' }] },
  });
  const { podIP, hostIP } = await until('the pod', async () => {
    const { status } = await client.resource(POD, namespace).get('web');
    return status?.phase === 'Running' ? status : undefined;
  });
  podPlace = `${podIP}:80`;
  servicePlace = `${spec?.clusterIP}:80`;
  nodePlace = `${hostIP}:${spec?.ports?.[0]?.nodePort}`;
  await until('the service', async () => (await fetch(`http://${servicePlace}/`)).status === 200);
});
afterAll(async () => {
  await client.resource(NAMESPACE).delete(namespace);
  client.dispose();
});

/** The same hosts run as before, every component is ready, and the API answers. */
afterEach(async () => {
  expect(await hostPids(data)).toEqual(before);
  const { hosts } = await stateOf(data);
  const down = hosts.flatMap(({ name, components }) =>
    components.filter(({ phase }) => phase !== 'ready').map((component) => `${name} ${component.name}`),
  );
  expect(down).toEqual([]);
  await client.resource(SERVICE, 'default').get('kubernetes');
});

const target = (place: string): { host: string; port: number } => {
  const [host = '', port = ''] = place.split(':');
  return { host, port: Number(port) };
};
const connected = (socket: Socket, event: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    socket.once(event, () => resolve(socket.off('error', reject)));
    socket.once('error', reject);
  });
type Opener = (place: string) => Promise<Socket>;
const plain: Opener = (place) => connected(connectPlain(target(place)), 'connect');
/** One full handshake a place; the sessions of the others are resumed. */
const secure = (credentials: ConnectionOptions = {}): Opener => {
  const sessions = new Map<string, Buffer>();
  return (place) => {
    const session = sessions.get(place);
    const options = {
      ...target(place),
      ...credentials,
      rejectUnauthorized: false,
      ALPNProtocols: ['http/1.1'],
    };
    const socket = connectTls({ ...options, ...(session && { session }) });
    socket.once('session', (next) => sessions.set(place, next));
    return connected(socket, 'secureConnect');
  };
};

let seeds = 0;
const fuzz = (
  at: readonly string[],
  open: Opener,
  input: (random: ReturnType<typeof seededRandom>) => HostileInput,
  inputs = INPUTS,
): Promise<Tally> => {
  seeds += 1;
  const from = SEED + seeds * INPUTS;
  let opened = 0;
  return sendHostile({
    inputs,
    connections: CONNECTIONS,
    open: () => open(at[opened++ % at.length]!),
    input: (index) => input(seededRandom(from + index)),
  });
};
const requests =
  (rules: RequestRules = {}) =>
  (random: ReturnType<typeof seededRandom>) =>
    hostileInput(random, rules);

/** Nearly all were requests with an answer, and some of each of these kinds. */
const expectAnswers = (
  { answered, hungUp, codes }: Tally,
  kinds: readonly number[],
  inputs = INPUTS,
): void => {
  expect(answered + hungUp).toBe(inputs);
  expect(answered).toBeGreaterThan(inputs * 0.9);
  expect(Object.keys(codes).map(Number)).toEqual(expect.arrayContaining([...kinds]));
};

const API_TARGETS = [
  ...['/api', '/apis', '/api/v1', '/api/v9/x', '/openapi/v2?x', '/version', '/metrics', '/api/v1/watch/pods'],
  ...[
    '/api/v1/pods?limit=-1',
    '/api/v1/pods?labelSelector=%00',
    '/api/v1/pods?resourceVersion=x',
    '/apis/x/y/z',
  ],
  ...[
    'pods/web/exec?command=id',
    'pods/web/log?tailLines=x',
    'pods/web:80/proxy//',
    'pods/web/proxy/%0d%0aX:%20y',
  ],
  ...[
    'services/http:web:/proxy',
    'configmaps',
    'secrets/..%2f..',
    'serviceaccounts/default/token',
    'pods/%zz',
  ],
].map((path) => (path.startsWith('/') ? path : `/api/v1/namespaces/${namespace}/${path}`));
const asAccount = (): RequestRules => ({
  targets: [...API_TARGETS, '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'],
  headers: [`Authorization: Bearer ${token}`, 'Accept: application/json;as=Table;v=v1;g=meta.k8s.io'],
});

test('API servers, as a stranger and as a service account', async () => {
  expectAnswers(
    await fuzz(placesOf('kube-apiserver'), secure(), requests(asAccount())),
    [200, 400, 401, 403],
  );
});

test('the load balancer, with garbage before and after the handshake', async () => {
  const at = placesOf('load balancer');
  let opened = 0;
  const half = sendHostile({
    inputs: INPUTS / 2,
    connections: CONNECTIONS,
    open: () => plain(at[opened++ % at.length]!),
    input: (index) => ({ bytes: hostileBytes(seededRandom(SEED - index), 1 + (index % 300)), isLast: true }),
  });
  const [garbage, http] = await Promise.all([half, fuzz(at, secure(), requests(asAccount()), INPUTS / 2)]);
  expect(garbage).toEqual({ answered: 0, hungUp: INPUTS / 2, codes: {} });
  expectAnswers(http, [200, 400, 401, 403], INPUTS / 2);
});

test('kubelets, as a stranger and as the API server', async () => {
  const credentials = {
    cert: readFileSync(join(data, 'pki', 'apiserver-kubelet-client.crt')),
    key: readFileSync(join(data, 'pki', 'apiserver-kubelet-client.key')),
  };
  const pod = `${namespace}/web`;
  const targets = [
    ...[
      '/pods',
      '/metrics/x',
      '/stats/summary',
      '/logs/',
      '/logs/..%2f..%2fetc/passwd',
      '/runningpods/',
      '/configz',
    ],
    ...[`/containerLogs/${pod}/app`, `/containerLogs/${pod}/app?tailLines=-1`, `/containerLogs/${pod}/%00`],
    ...[`/exec/${pod}/app?command=id&output=1`, `/attach/${pod}/app?input=1`, `/portForward/${pod}?port=x`],
    ...[
      `/run/${pod}/app?cmd=id`,
      `/run/${pod}/app?cmd=%00`,
      '/exec/a/b',
      '/checkpoint/a/b/c',
      '/exec/%2f/%2f/%2f',
    ],
  ];
  const [stranger, server] = [secure(), secure(credentials)];
  let opened = 0;
  const open: Opener = (place) => ((opened += 1) % 4 === 0 ? stranger : server)(place);
  expectAnswers(await fuzz(placesOf('kubelet'), open, requests({ targets })), [200, 400, 401, 404]);
});

test.each(['kube-controller-manager', 'cloud-controller-manager', 'kube-scheduler'])(
  '%s',
  async (component) => {
    const tally = await fuzz(
      placesOf(component),
      secure(),
      requests({ headers: [`Authorization: Bearer ${token}`] }),
    );
    expectAnswers(tally, [200, 400, 401, 403]);
  },
);

/** It listens where the controller-manager leads. Without a certificate a stranger meets TLS and nothing behind it. */
test('the metrics server, as a stranger and as the API server', async () => {
  const reached = await Promise.allSettled(
    placesOf('metrics-server').map(async (place) => ((await plain(place)).destroy(), place)),
  );
  const at = reached.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  expect(at).toHaveLength(1);
  const garbage = await fuzz(
    at,
    plain,
    (random) => ({ bytes: oddTlsRecord(random), isLast: true }),
    INPUTS / 2,
  );
  expect(garbage).toEqual({ answered: 0, hungUp: INPUTS / 2, codes: {} });
  const credentials = {
    cert: readFileSync(join(data, 'pki', 'front-proxy-client.crt')),
    key: readFileSync(join(data, 'pki', 'front-proxy-client.key')),
  };
  const root = '/apis/metrics.k8s.io/v1beta1';
  const targets = [root, `${root}/nodes`, `${root}/nodes/%zz`, `${root}/namespaces//pods`, '//', '/healthz'];
  const headers = ['X-Remote-User: stranger', 'X-Remote-Group: system:masters'];
  const tally = await fuzz(at, secure(credentials), requests({ targets, headers }), INPUTS / 2);
  expectAnswers(tally, [400, 401], INPUTS / 2);
});

test.each([10_249, 10_256])('kube-proxy on port %i', async (port) => {
  const worker = onPort('kube-proxy', port).filter((place) => place.includes('.16.'));
  expectAnswers(await fuzz(worker, plain, requests()), [200, 400, 404]);
});

test('the metrics listener of kube-dns', async () => {
  const targets = ['/health', '/ready', '/metrics', '/health/x', '//'];
  expectAnswers(await fuzz(onPort('kube-dns', 9153), plain, requests({ targets })), [200, 400, 404]);
});

/** Each input is answered, or hung up on; a name resolves afterwards. */
test('kube-dns over TCP and UDP', async () => {
  const at = onPort('kube-dns', 10_053);
  const over = { inputs: INPUTS, at: at.map(target), seed: SEED };
  const [tcp, udp] = [await sendHostileFrames(over), await sendHostileDatagrams(over)];
  expect([tcp.answered + tcp.hungUp, tcp.answered > INPUTS * 0.5, udp.answered > INPUTS * 0.5]).toEqual([
    INPUTS,
    true,
    true,
  ]);
  expect(await resolveAt(target(at[0]!), 'kubernetes.default.svc.cluster.local.')).toHaveLength(1);
});

test('etcd’s metrics listener', async () => {
  const targets = [
    '/health',
    '/health?serializable=x',
    '/version',
    '/v3/kv/range',
    '/etcdserverpb.KV/Range',
    '/readyz',
  ];
  expectAnswers(await fuzz(onPort('etcd', 2381), plain, requests({ targets })), [200, 400, 404]);
});

/** Without a certificate a stranger meets TLS and nothing behind it. */
test.each([2379, 2380])('etcd on port %i', async (port) => {
  const tally = await fuzz(onPort('etcd', port), plain, (random) => ({
    bytes: random.below(3) === 0 ? hostileInput(random).bytes : oddTlsRecord(random),
    isLast: true,
  }));
  expect(tally).toEqual({ answered: 0, hungUp: INPUTS, codes: {} });
});

test.each<[string, () => string]>([
  ['a pod', () => podPlace],
  ['a service', () => servicePlace],
  ['a node port', () => nodePlace],
])('%s', async (_, place) => {
  expectAnswers(await fuzz([place()], plain, requests()), [200, 400]);
});

test('every port of a component is one of these', () => {
  const fuzzed = [
    ...[2379, 2380, 2381, 4443, 6443, 9153, 10_053],
    ...[10_249, 10_250, 10_256, 10_257, 10_258, 10_259],
  ];
  const ports = new Set([...places.keys()].map((place) => target(place).port));
  expect([...ports].sort((a, b) => a - b)).toEqual(fuzzed);
});
