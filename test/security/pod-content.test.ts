import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { V1Container, V1Pod } from '../../core/api/schema/index.ts';
import {
  NAMESPACE,
  NETWORK_POLICY,
  POD,
  SERVICE,
  SERVICE_ACCOUNT,
  type OwnedClient,
} from '../../core/client/index.ts';
import { adminClient } from '../support/cluster.ts';
import { kubernetesClient, type KubernetesClient } from '../support/kubectl.ts';
import { until } from '../support/until.ts';
import { hostPids } from './default-cluster.ts';

const data = inject('attackedData');
const namespace = 'hostile-pods';
const MINOR = 36;

let client: OwnedClient;
let kubectl: KubernetesClient | undefined;
let pids: Record<string, number | undefined>;

beforeAll(async () => {
  client = await adminClient(data);
  const kubeconfig = await readFile(join(data, 'kubeconfig', 'admin.conf'), 'utf8');
  kubectl = await kubernetesClient(MINOR, kubeconfig);
  pids = await hostPids(data);
  await client.resource(NAMESPACE).create({ metadata: { name: namespace } });
  await until('the default service account', () =>
    client
      .resource(SERVICE_ACCOUNT, namespace)
      .get('default')
      .then(() => true),
  );
});

afterAll(async () => {
  await client.resource(NAMESPACE).delete(namespace);
  client.dispose();
  await kubectl?.close();
});

const create = (name: string, container: Partial<V1Container>, rest: Partial<V1Pod['spec']> = {}) =>
  client.resource(POD, namespace).create({
    metadata: { name, namespace },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'app', image: 'busybox:1', ...container }],
      ...rest,
    },
  });

const statusOf = async (name: string) => (await client.resource(POD, namespace).get(name)).status ?? {};
const terminationOf = (name: string) =>
  until(`the end of ${name}`, async () => (await statusOf(name)).containerStatuses?.[0]?.state?.terminated);
const exitCodeOf = async (name: string): Promise<number> => (await terminationOf(name)).exitCode;
/** With the message, which says why a container could not be run. */
const endOf = async (name: string): Promise<string> => {
  const { exitCode, message = '' } = await terminationOf(name);
  return `${exitCode} ${message}`.trim();
};

/** Every host is the process that it was. */
const expectUnharmed = async (): Promise<void> => expect(await hostPids(data)).toEqual(pids);

const raw = async (address: string, port: number, bytes: string | Uint8Array): Promise<string> => {
  const socket = net.connect({ host: address, port });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk));
  socket.on('error', () => undefined);
  socket.end(bytes);
  await once(socket, 'close');
  return text.split('\r\n')[0] ?? '';
};

test.each([
  ['doubles-a-string', 'x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done', 2],
  ['calls-itself', "echo 'sh /tmp/f' > /tmp/f; sh /tmp/f", 2],
  ['nests', `${'('.repeat(9_000)}:${')'.repeat(9_000)}; nosuch`, 0],
  [
    'fills-its-disk',
    'while echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa >> /tmp/f && cat /tmp/f /tmp/f >> /tmp/g; do :; done; exit 4',
    4,
  ],
  ['has-too-many-variables', 'i=0; while true; do i=$((i + 1)); export v$i=$i; done', 2],
])('a container that %s ends on its own', async (name, script, code) => {
  await create(name, { command: ['sh', '-c', script] });
  if (code > 0) expect(await exitCodeOf(name)).toBe(code);
  else await until(`${name} to run`, async () => (await statusOf(name)).phase !== 'Pending');
  await expectUnharmed();
});

test('endless loops, forks and floods of logs leave the node its time', async () => {
  const scripts = {
    'loop-forever': 'while true; do :; done',
    'fork-forever': "echo 'while true; do sh /tmp/f | sh /tmp/f; done' > /tmp/f; sh /tmp/f",
    'log-forever': 'while true; do seq 1 10000; done',
    'garbage-forever': "while true; do printf '\\e[2J\\a\\r\\t%x' 3735928559; done",
    'one-long-line':
      'while true; do echo -n aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done',
  };
  for (const [name, script] of Object.entries(scripts)) await create(name, { command: ['sh', '-c', script] });
  for (const name of Object.keys(scripts))
    await until(`${name} to run`, async () => (await statusOf(name)).phase === 'Running');
  await create('neighbour', { command: ['sh', '-c', 'echo works; exit 6'] });
  expect(await exitCodeOf('neighbour')).toBe(6);
  for (const name of Object.keys(scripts)) {
    const log = await client.text({
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/pods/${name}/log`,
    });
    expect(log.length).toBeLessThan(1024 * 1024);
    await client.resource(POD, namespace).delete(name);
  }
  await expectUnharmed();
});

test('a pod port answers every path, bytes that are no HTTP, and upgrades', async () => {
  await create(
    'web',
    {
      ports: [{ containerPort: 8080 }],
      readinessProbe: { httpGet: { port: 8080, path: '//' }, periodSeconds: 1 },
    },
    { restartPolicy: 'Always' },
  );
  const address = await until('web to be ready', async () => {
    const { podIP, conditions } = await statusOf('web');
    return conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && podIP;
  });
  for (const target of ['//', '///', 'http://[', '/%', '*', '//?format=text'])
    expect([
      target,
      await raw(address, 8080, `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`),
    ]).toEqual([target, 'HTTP/1.1 200 OK']);
  const upgrade = 'Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\n\r\n';
  expect(await raw(address, 8080, `GET // HTTP/1.1\r\nHost: x\r\n${upgrade}`)).toBe('HTTP/1.1 200 OK');
  await raw(address, 8080, 'CONNECT // HTTP/1.1\r\nHost: x\r\n\r\n');
  await raw(address, 8080, Buffer.from([0x16, 0x03, 0x01, 0xff, 0xff, 0, 0xff]));
  await raw(address, 8080, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  const answer = await client.text({
    method: 'GET',
    path: `/api/v1/namespaces/${namespace}/pods/web:8080/proxy//`,
  });
  expect(answer).toContain('"pod":"web"');
  await expectUnharmed();
});

test('a probe of a port name that does not exist is reported, not fatal', async () => {
  const livenessProbe = { httpGet: { port: 'nosuch' }, periodSeconds: 1 };
  await create('unprobed', { livenessProbe }, { restartPolicy: 'Always' });
  await until('a warning', async () => {
    const { items } = await client.json<{ items: { message?: string }[] }>({
      method: 'GET',
      path: `/api/v1/namespaces/${namespace}/events`,
    });
    return items.some(({ message }) => message?.includes('unresolved port: nosuch'));
  });
  await expectUnharmed();
});

test('variables that double each other do not start the container', async () => {
  const env = [{ name: 'V0', value: 'x'.repeat(1_000) }];
  for (let i = 1; i <= 40; i += 1) env.push({ name: `V${i}`, value: `$(V${i - 1})$(V${i - 1})` });
  await create('doubled-variables', { env });
  const waiting = await until(
    'the refusal',
    async () => (await statusOf('doubled-variables')).containerStatuses?.[0]?.state?.waiting?.message,
  );
  expect(waiting).toContain('argument list too long');
  await expectUnharmed();
});

test('hostile exec sessions end with an exit code', async (context) => {
  if (!kubectl) return context.skip();
  await create('shell', { command: ['sleep', 'infinity'] });
  await until('shell to run', async () => (await statusOf('shell')).phase === 'Running');
  const exec = async (...command: string[]) => {
    const outcome = await kubectl!.kubectl(['exec', '-n', namespace, 'shell', '--', ...command]);
    return outcome.code;
  };
  expect(await exec('sh', '-c', 'x=aaaaaaaaaaaaaaaa; while true; do x=$x$x; done')).toBe(2);
  expect(await exec('sh', '-c', '((((((((((')).toBe(2);
  expect(await exec('constructor')).not.toBe(0);
  expect(await exec('sh', '-c', 'exit 9')).toBe(9);
  await expectUnharmed();
});

test('pods see nothing of the environment of their host', async () => {
  await create('environment', { command: ['sh', '-c', 'env; exit 3'] });
  expect(await exitCodeOf('environment')).toBe(3);
  const text = await client.text({
    method: 'GET',
    path: `/api/v1/namespaces/${namespace}/pods/environment/log`,
  });
  const names = text
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names.sort()).toEqual([
    'HOSTNAME',
    'KUBERNETES_PORT',
    'KUBERNETES_PORT_443_TCP',
    'KUBERNETES_PORT_443_TCP_ADDR',
    'KUBERNETES_PORT_443_TCP_PORT',
    'KUBERNETES_PORT_443_TCP_PROTO',
    'KUBERNETES_SERVICE_HOST',
    'KUBERNETES_SERVICE_PORT',
    'KUBERNETES_SERVICE_PORT_HTTPS',
    'PATH',
  ]);
  expect(text).not.toContain(data);
});

test('commands of a pod reach the networks of its cluster and nothing else', async () => {
  const outside = net.createServer((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret'),
  );
  outside.listen(0, '127.0.0.1');
  await once(outside, 'listening');
  const { port } = outside.address() as net.AddressInfo;
  const targets = [
    `127.0.0.1:${port}`,
    `localhost:${port}`,
    `0.0.0.0:${port}`,
    `127.0.0.2:${port}`,
    'example.com',
  ];
  const script = [
    ...targets.map((target) => `curl -s -m 5 http://${target}/ && echo REACHED ${target}`),
    'nslookup example.com && echo RESOLVED',
    'curl -s -m 5 https://$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT/livez && echo API',
    'exit 5',
  ].join('; ');
  await create('curious', { command: ['sh', '-c', script] });
  expect(await exitCodeOf('curious')).toBe(5);
  const log = await client.text({ method: 'GET', path: `/api/v1/namespaces/${namespace}/pods/curious/log` });
  expect(log).not.toMatch(/REACHED|RESOLVED|secret/);
  expect(log).toContain('API');
  outside.close();
});

/** Scripts that end when they have seen what they wait for: their exit codes are the answers. */
const REACHES = (url: string): string =>
  `while true; do nslookup named && curl -s ${url} && exit 0; sleep 1; done`;
const LOSES = (url: string): string => `while curl -s ${url}; do sleep 1; done; exit 5`;

test('pods find each other by name, and NetworkPolicies hold in both directions', async () => {
  const labelled = (name: string, container: Partial<V1Container>, restartPolicy = 'Never') =>
    client.resource(POD, namespace).create({
      metadata: { name, namespace, labels: { app: name } },
      spec: { restartPolicy, containers: [{ name: 'app', image: 'busybox:1', ...container }] },
    });
  const readinessProbe = { httpGet: { port: 8080, path: '/' }, periodSeconds: 1 };
  await labelled('named', { ports: [{ name: 'http', containerPort: 8080 }], readinessProbe }, 'Always');
  await client.resource(SERVICE, namespace).create({
    metadata: { name: 'named' },
    spec: { selector: { app: 'named' }, ports: [{ port: 8080, targetPort: 'http' }] },
  });
  const url = 'http://named:8080/';
  await labelled('finds', { command: ['sh', '-c', REACHES(url)] });
  expect(await exitCodeOf('finds')).toBe(0);
  await client.resource(NETWORK_POLICY, namespace).create({
    metadata: { name: 'friends' },
    spec: {
      podSelector: { matchLabels: { app: 'named' } },
      policyTypes: ['Ingress'],
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'friend' } } }], ports: [{ port: 'http' }] }],
    },
  });
  await client.resource(NETWORK_POLICY, namespace).create({
    metadata: { name: 'caged' },
    spec: { podSelector: { matchLabels: { app: 'caged' } }, policyTypes: ['Egress'], egress: [] },
  });
  const { podIP } = await statusOf('named');
  await Promise.all([
    labelled('stranger', { command: ['sh', '-c', LOSES(url)] }),
    labelled('friend', { command: ['sh', '-c', REACHES(url)] }),
    labelled('caged', { command: ['sh', '-c', LOSES(`http://${podIP}:8080/`)] }),
  ]);
  expect([await endOf('stranger'), await endOf('friend'), await endOf('caged')]).toEqual(['5', '0', '5']);
  // Probes come from the node.
  const { conditions } = await statusOf('named');
  expect(conditions?.find(({ type }) => type === 'Ready')?.status).toBe('True');
});
