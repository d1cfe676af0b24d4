import { beforeAll, expect, inject, test } from 'vitest';
import { encodeHeaders, type HeaderField } from '../../core/base/node/http2/hpack.ts';
import { FLAG, FRAME, PREFACE, frame } from '../../core/base/node/http2/frame.ts';
import { until } from '../support/until.ts';
import { attackedApi, readUntil, type AttackedApi, type Identity } from './api-client.ts';

const NAMESPACE = 'api-proxy';
const ROLE = 'attack-node-proxy-reader';

let api: AttackedApi;
/** May read through the proxy of nodes, and nothing else. */
let reader: Identity;
let node = '';

const item = (list: Record<string, unknown>): { metadata: { name: string } }[] =>
  list['items'] as { metadata: { name: string } }[];

beforeAll(async () => {
  api = await attackedApi(inject('attackedData'));
  const { admin } = api;
  reader = api.identity('attack-node-proxy-reader');
  node = item(await api.json({ ...admin, path: '/api/v1/nodes' }, 200))[0]!.metadata.name;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  await api.json(
    {
      ...admin,
      method: 'POST',
      path: `${rbac}/clusterroles`,
      body: {
        metadata: { name: ROLE },
        rules: [
          { apiGroups: [''], resources: ['nodes/proxy'], verbs: ['get'] },
          { apiGroups: [''], resources: ['services/proxy', 'pods/proxy'], verbs: ['get'] },
        ],
      },
    },
    201,
  );
  await api.json(
    {
      ...admin,
      method: 'POST',
      path: `${rbac}/clusterrolebindings`,
      body: {
        metadata: { name: ROLE },
        subjects: [{ kind: 'User', name: ROLE, apiGroup: 'rbac.authorization.k8s.io' }],
        roleRef: { kind: 'ClusterRole', name: ROLE, apiGroup: 'rbac.authorization.k8s.io' },
      },
    },
    201,
  );
  await api.json(
    { ...admin, method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: NAMESPACE } } },
    201,
  );
  await until(
    'the role to bind',
    async () => (await api.ask({ ...reader, path: `/api/v1/nodes/${node}/proxy/healthz` })).code !== 403,
  );
});

test("a kubelet's health is reached through the node proxy", async () => {
  const { code, text } = await api.ask({ ...reader, path: `/api/v1/nodes/${node}/proxy/healthz` });
  expect([code, text.trim()]).toEqual([200, 'ok']);
});

test('a refused upgrade closes the connection: a second request does not run as the API server', async () => {
  const socket = await api.dial('http/1.1', reader);
  socket.write(
    `GET /api/v1/nodes/${node}/proxy/healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n` +
      'GET /pods HTTP/1.1\r\nHost: x\r\n\r\n',
  );
  const received = await readUntil(socket);
  expect([received.match(/^HTTP\/1\.1 \d+/gm), received.includes('"kind":"PodList"')]).toEqual([
    ['HTTP/1.1 404'],
    false,
  ]);
});

test.each(['%0d%0a', '%0D%0A%0D%0A', '%0a', '%00', '%7f'])(
  'a path with %s is refused before a kubelet sees it',
  async (bytes) => {
    const path = `/api/v1/nodes/${node}/proxy/healthz${bytes}X:%20y`;
    expect((await api.ask({ ...reader, path })).code).toBe(400);
  },
);

const header = (name: string, value: string): HeaderField => ({ name, value });

test.each([
  ['a value with CR and LF', header('x-a', 'b\r\nauthorization: Bearer x')],
  ['a name with CR and LF', header('x-a: b\r\nx-c', 'd')],
  ['a path with a line of its own', header(':path', `/api/v1/nodes/x/proxy/ HTTP/1.1\r\nHost: x`)],
  ['a header of a connection', header('transfer-encoding', 'chunked')],
])('HTTP/2 with %s is a broken stream', async (_what, field) => {
  const socket = await api.dial('h2', reader);
  const fields = [header(':method', 'GET'), header(':scheme', 'https'), header(':path', '/livez')];
  const block = encodeHeaders(field.name === ':path' ? [...fields.slice(0, 2), field] : [...fields, field]);
  const reset = frame(FRAME.resetStream, 0, 1, Buffer.from([0, 0, 0, 1])).toString('latin1');
  const received = readUntil(socket, reset);
  socket.write(
    Buffer.concat([
      PREFACE,
      frame(FRAME.settings, 0, 0, Buffer.alloc(0)),
      frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, 1, block),
    ]),
  );
  expect((await received).includes(reset)).toBe(true);
  socket.destroy();
});

test('a service leads to pods alone, whatever its endpoints say', async () => {
  const { admin, host, port } = api;
  await api.json(
    {
      ...admin,
      method: 'POST',
      path: `/api/v1/namespaces/${NAMESPACE}/services`,
      body: { metadata: { name: 'inside' }, spec: { ports: [{ name: 'p', port: 80 }] } },
    },
    201,
  );
  await api.json(
    {
      ...admin,
      method: 'POST',
      path: `/apis/discovery.k8s.io/v1/namespaces/${NAMESPACE}/endpointslices`,
      body: {
        metadata: { name: 'inside-1', labels: { 'kubernetes.io/service-name': 'inside' } },
        addressType: 'IPv4',
        ports: [{ name: 'p', port }],
        endpoints: [
          { addresses: [host] },
          {
            addresses: [host],
            targetRef: { kind: 'Pod', namespace: 'kube-system', name: 'kube-apiserver-cp-1' },
          },
        ],
      },
    },
    201,
  );
  const path = `/api/v1/namespaces/${NAMESPACE}/services/https:inside:80/proxy/livez`;
  await until('the slice to be cached', async () => (await api.ask({ ...admin, path })).code === 503);
  const { code, text } = await api.ask({ ...reader, path });
  expect([code, (JSON.parse(text) as { message: string }).message]).toEqual([
    503,
    'no endpoints available for service "inside"',
  ]);
});

test('exec needs an upgrade, over HTTP/1.1 as a POST of a body too', async () => {
  const path = '/api/v1/namespaces/kube-system/pods/etcd-cp-1/exec?command=id&stdout=1';
  const { code } = await api.ask({ ...api.admin, method: 'POST', path, body: {} });
  expect(code).toBe(400);
});
