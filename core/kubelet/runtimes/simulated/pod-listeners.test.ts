import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import http from 'node:http';
import { expect, test } from 'vitest';
import { nodeBindRules } from '../../../base/bind-rules.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import type { V1ContainerPort } from '../../../api/schema/index.ts';
import type { Connecting } from './content/messages.ts';
import type { Responder } from './http-answer.ts';
import { ListenerPool } from './pod-listeners.ts';

const NET = `127.${60 + (process.pid % 60)}`;
const CONTROL_PLANE = `${NET}.0.1`;
const POD = `${NET}.201.1`;

const open = async (port: V1ContainerPort, address = POD): Promise<string> => {
  const listeners = await new ListenerPool(manualClock())
    .open([port], {
      address,
      hostIP: CONTROL_PLANE,
      hostRules: nodeBindRules(CONTROL_PLANE, true),
      responder: {} as Responder,
    })
    .catch((error: Error) => error.message);
  if (typeof listeners === 'string') return listeners;
  listeners.close();
  return 'open';
};

test.each<[string, V1ContainerPort, string]>([
  ['a port of its own', { containerPort: 4300, hostPort: 4301 }, 'open'],
  [
    'every address, which is the one it has',
    { containerPort: 4300, hostPort: 4301, hostIP: '0.0.0.0' },
    'open',
  ],
  ['the API server', { containerPort: 4300, hostPort: 6443 }, 'reserved for kube-apiserver'],
  ['etcd', { containerPort: 4300, hostPort: 2379, hostIP: CONTROL_PLANE }, 'reserved for etcd'],
  ['the kubelet', { containerPort: 4300, hostPort: 10_250 }, 'reserved for kubelet'],
  ['another host', { containerPort: 4300, hostPort: 4301, hostIP: `${NET}.0.2` }, 'is not allowed'],
  ['the machine', { containerPort: 4300, hostPort: 4301, hostIP: '127.0.0.1' }, 'is not allowed'],
])('hostPort: %s', async (_, port, answer) => {
  expect(await open(port)).toContain(answer);
});

test('a pod in the network of its host has the ports that no component uses', async () => {
  expect([
    await open({ containerPort: 4300 }, CONTROL_PLANE),
    await open({ containerPort: 6443 }, CONTROL_PLANE),
  ]).toEqual([
    'open',
    `port 6443 on ${CONTROL_PLANE} cannot be opened: ${CONTROL_PLANE}:6443 is reserved for kube-apiserver`,
  ]);
});

test('connections that are denied are reset, datagrams are dropped, and others are answered', async () => {
  const [allowed, denied] = [`${NET}.201.8`, `${NET}.201.9`];
  const asked: Connecting[] = [];
  const pool = new ListenerPool(manualClock(), {
    isPoliced: true,
    judge: (connection) => {
      asked.push(connection);
      return Promise.resolve({ isAllowed: connection.from === allowed });
    },
  });
  const responder = {
    pod: 'web',
    ip: POD,
    isUp: () => true,
    onRequest: () => undefined,
  } as unknown as Responder;
  const ports = [
    { containerPort: 4310, hostPort: 4312 },
    { containerPort: 4311, protocol: 'UDP' },
  ];
  const listeners = await pool.open(ports, { address: POD, hostIP: CONTROL_PLANE, responder });
  const get = (host: string, port: number, localAddress: string): Promise<number | string> =>
    new Promise((resolve) => {
      const request = http.get({ host, port, localAddress, agent: false }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? ''));
    });
  expect([
    await get(POD, 4310, allowed),
    await get(POD, 4310, denied),
    await get(CONTROL_PLANE, 4312, denied),
  ]).toEqual([200, 'ECONNRESET', 'ECONNRESET']);
  // Behind a hostPort it is the pod and its own port that are protected.
  expect(asked.map(({ to, port, kind }) => `${kind} ${to}:${port}`)).toEqual(
    Array.from({ length: 3 }, () => `accept ${POD}:4310`),
  );
  const [bad, good] = [createSocket('udp4'), createSocket('udp4')];
  bad.on('message', () => bad.emit('error', new Error('an answer to a datagram that was denied')));
  await Promise.all([
    new Promise<void>((resolve) => bad.bind(0, denied, () => bad.send('1', 4311, POD, () => resolve()))),
    new Promise<void>((resolve) => good.bind(0, allowed, () => good.send('2', 4311, POD, () => resolve()))),
  ]);
  const [answer] = (await once(good, 'message')) as [Buffer];
  expect(answer.toString()).toBe('2');
  bad.close();
  good.close();
  listeners.close();
});
