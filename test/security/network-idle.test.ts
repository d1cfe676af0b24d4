import { readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, inject, test } from 'vitest';
import { componentPlaces } from '../../core/cluster/checks/listeners.ts';
import { parseClusterConfig } from '../../core/cluster/config/config.ts';
import { until } from '../support/until.ts';
import { attackedApi } from './api-client.ts';
import { hostPids } from './default-cluster.ts';

/** More than any of these listeners keeps open at the same time. */
const HELD = 1_100;
const PORTION = 50;
/** What a listener keeps of peers that it does not know. */
const KEPT_MAX = 256;

const data = inject('attackedData');
const file = join(data, 'cluster.yaml');
const places = componentPlaces(parseClusterConfig(readFileSync(file, 'utf8'), file));
const placeOf = (component: string, end: string): string =>
  [...places].find(([place, name]) => name === component && place.endsWith(end))![0];

interface Credentials {
  readonly cert?: Buffer;
  readonly key?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
}

const held: Socket[] = [];
afterEach(() => {
  for (const socket of held.splice(0)) socket.destroy();
});

/** Connections that say nothing. A listener may close any of them. */
const hold = async (place: string): Promise<void> => {
  const [host = '', port = ''] = place.split(':');
  const open = (): Promise<void> => {
    const socket = connect({ host, port: Number(port) });
    socket.on('error', () => undefined);
    held.push(socket);
    return new Promise((resolve) => {
      socket.once('connect', () => resolve());
      socket.once('close', () => resolve());
    });
  };
  // In portions: what does not fit into the queue of the kernel would be open on this side alone.
  for (let opened = 0; opened < HELD; opened += PORTION)
    await Promise.all(Array.from({ length: PORTION }, open));
};

const statusOf = (url: string, credentials: Credentials = {}): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = url.startsWith('https:')
      ? httpsRequest(url, { ...credentials, agent: false, rejectUnauthorized: false })
      : httpRequest(url, { agent: false });
    sent.once('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.once('error', reject);
    sent.end();
  });

const isBounded = (): Promise<boolean> =>
  until('the oldest to be closed', () => held.filter(({ destroyed }) => !destroyed).length <= KEPT_MAX);

/** A probe that a stranger can keep out would have the kubelet restart the component. */
test.each([
  ['kube-scheduler', 'https', ':10259', '/healthz'],
  ['kube-controller-manager', 'https', ':10257', '/healthz'],
  ['cloud-controller-manager', 'https', ':10258', '/healthz'],
  ['etcd', 'http', ':2381', '/health'],
  ['kube-proxy', 'http', '.16.1:10256', '/healthz'],
  ['kube-dns', 'http', ':9153', '/health'],
])('a thousand silent connections keep no probe from %s', async (component, scheme, end, path) => {
  const before = await hostPids(data);
  const place = placeOf(component, end);
  await hold(place);
  expect(await statusOf(`${scheme}://${place}${path}`)).toBe(200);
  await isBounded();
  expect(await hostPids(data)).toEqual(before);
});

/** It listens where the controller-manager leads; a new connection shows whether an API server would get in. */
test('a thousand silent connections keep no API server from the metrics server', async () => {
  const pki = (name: string): Buffer => readFileSync(join(data, 'pki', name));
  const credentials = {
    cert: pki('front-proxy-client.crt'),
    key: pki('front-proxy-client.key'),
    headers: { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' },
  };
  const health = (place: string): Promise<number> => statusOf(`https://${place}/healthz`, credentials);
  const candidates = [...places].filter(([, name]) => name === 'metrics-server').map(([place]) => place);
  const answers = await Promise.all(candidates.map((place) => health(place).catch(() => 0)));
  const leading = candidates[answers.indexOf(200)]!;
  await hold(leading);
  expect(await health(leading)).toBe(200);
  await isBounded();
});

test('a thousand silent connections keep the API server neither from a kubelet nor from etcd', async () => {
  const api = await attackedApi(data);
  await hold(placeOf('kubelet', ':10250'));
  const [node] = placeOf('kubelet', ':10250').split(':');
  const nodes = await api.json({ ...api.admin, path: '/api/v1/nodes' }, 200);
  const { metadata } = (nodes['items'] as { metadata: { name: string }; status: object }[]).find(
    ({ status }) => JSON.stringify(status).includes(`"${node}"`),
  )!;
  const path = `/api/v1/nodes/${metadata.name}/proxy/healthz`;
  expect((await api.ask({ ...api.admin, path })).code).toBe(200);
  await isBounded();
  for (const port of [':2379', ':2380']) {
    for (const socket of held.splice(0)) socket.destroy();
    await hold(placeOf('etcd', port));
    await isBounded();
    expect((await api.ask({ ...api.admin, path: '/readyz' })).code).toBe(200);
  }
});
