import { expect, test } from 'vitest';
import { forwardUrl } from '../../../kinds/forward-url.ts';
import { parsePort, podForForward, podPorts, servicePorts } from './forward-targets.ts';

const pod = (name: string, ready: string, createdAt: string) => ({
  metadata: { name, creationTimestamp: createdAt },
  spec: {
    containers: [
      {
        name: 'web',
        ports: [
          { name: 'http', containerPort: 8080 },
          { name: 'dns', containerPort: 53, protocol: 'UDP' },
        ],
      },
    ],
  },
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
});

test('only TCP can be forwarded', () => {
  expect(podPorts(pod('a', 'True', '1'))).toEqual([{ port: 8080, name: 'http', container: 'web' }]);
});

test('a named target port of a service is the port that its pod gives that name', () => {
  const service = {
    spec: {
      ports: [
        { name: 'public', port: 80, targetPort: 'http' },
        { port: 9090, targetPort: 9091 },
        { name: 'lost', port: 81, targetPort: 'nobody' },
      ],
    },
  };
  expect(servicePorts(service, pod('a', 'True', '1')).map(({ port, name }) => [port, name])).toEqual([
    [8080, 'public (80)'],
    [9091, '9090'],
  ]);
});

test('a service is forwarded through its oldest pod that is ready', () => {
  const pods = [
    pod('young', 'True', '2026-02'),
    pod('old', 'True', '2026-01'),
    pod('ill', 'False', '2025-01'),
  ];
  expect(podForForward(pods)?.metadata).toMatchObject({ name: 'old' });
});

test('ports are whole numbers that exist; custom says which of them speak TLS', () => {
  expect(['80', ' 443 ', '0', '65536', '8o'].map(parsePort)).toEqual([
    80,
    443,
    undefined,
    undefined,
    undefined,
  ]);
  expect([forwardUrl(4000, 8080), forwardUrl(4000, 8443)]).toEqual([
    'http://127.0.0.1:4000/',
    'https://127.0.0.1:4000/',
  ]);
});
