import { expect, test } from 'vitest';
import { nodeBindRules } from '../../../base/bind-rules.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import type { V1ContainerPort } from '../../../api/schema/index.ts';
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
