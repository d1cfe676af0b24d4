import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { defaultGates, releaseOf } from '../../api/releases/index.ts';
import { silentLog } from '../../base/log.ts';
import { seededRandom } from '../../base/random.ts';
import type { KubernetesObject } from '../../api/meta/index.ts';
import { bootstrapPolicy } from '../authz/bootstrap/bootstrap-policy.ts';
import { NodeGraph } from '../authz/node/node-graph.ts';
import { PolicyIndex } from '../authz/rbac/policy-index.ts';
import { createRegistry, type ObjectRegistry } from '../registry/create-registry.ts';
import { MemoryStore } from '../registry/testing/fixtures.ts';
import { HealthRegistry } from '../../component/health.ts';
import { startBootstrap, type Bootstrap } from './bootstrap.ts';
import { ensureClusterAuthentication, type ClusterAuthentication } from './cluster-authentication.ts';
import { ensureFlowControl } from './flow-control.ts';
import { apiServerId } from './identity-lease.ts';
import { registryWriter, type ObjectWriter } from './object-writer.ts';
import { createInternalInformer } from '../informer/internal-informer.ts';
import { APISERVER_USER } from './object-writer.ts';
import { startPolicyFeed } from './policy-feed.ts';
import { ensureSystemPriorityClasses } from './priority-classes.ts';
import { ensureRbacPolicy } from './rbac-policy.ts';
import { ensureServiceCidr } from './service-cidr.ts';
import { ensureSystemNamespaces } from './system-namespaces.ts';
import { writeEndpoints } from './kubernetes-service/endpoints.ts';

const MINOR = 36;
const TURNS_MAX = 20_000;

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** Lets pending promises run until something holds; no time passes. */
const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
  for (let turn = 0; turn < TURNS_MAX; turn += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error(`never: ${what}`);
};

const AUTHENTICATION: ClusterAuthentication = {
  clientCa: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  requestHeader: {
    ca: '-----BEGIN CERTIFICATE-----\nBBBB\n-----END CERTIFICATE-----\n',
    allowedNames: ['front-proxy-client'],
    usernameHeaders: ['X-Remote-User'],
    uidHeaders: [],
    groupHeaders: ['X-Remote-Group'],
    extraHeaderPrefixes: ['X-Remote-Extra-'],
  },
  isExpired: () => false,
};

interface Server {
  readonly writer: ObjectWriter;
  readonly registry: ObjectRegistry;
  readonly health: HealthRegistry;
  readonly failed: string[];
  readonly clock: ReturnType<typeof manualClock>;
  readonly bootstrap: Bootstrap;
  isReady(): Promise<boolean>;
}

const serverOn = (store: MemoryStore, number: number): Server => {
  const clock = manualClock();
  const log = silentLog;
  const random = seededRandom(number);
  const registry = createRegistry({
    store,
    minor: MINOR,
    clock,
    random,
    log,
    serviceCidrs: ['10.96.0.0/16'],
  });
  registry.start();
  const health = new HealthRegistry(log);
  const stop = new AbortController();
  const writer = registryWriter({ registry, clock, minor: MINOR, signal: stop.signal });
  const failed: string[] = [];
  const bootstrap = startBootstrap({
    writer,
    store,
    health,
    clock,
    log,
    minor: MINOR,
    gates: defaultGates(releaseOf(MINOR)),
    advertiseAddress: `192.0.2.${number}`,
    securePort: 6443,
    serviceCidrs: ['10.96.0.0/16'],
    hostname: `cp-${number}`,
    instance: String(number),
    authentication: () => AUTHENTICATION,
    onFailed: (hook, error) => failed.push(`${hook}: ${(error as Error).message}`),
  });
  closing.push(() => {
    stop.abort();
    registry.close();
  });
  const isReady = async (): Promise<boolean> => {
    const answer = await health.answer('/readyz', new URLSearchParams(), stop.signal);
    return answer?.code === 200;
  };
  return { writer, registry, health, failed, clock, bootstrap, isReady };
};

const addressesOf = async ({ writer }: Server): Promise<string[]> => {
  const endpoints = await writer.get({ group: '', resource: 'endpoints' }, 'default', 'kubernetes');
  const subsets = (endpoints?.['subsets'] ?? []) as { addresses: { ip: string }[] }[];
  return subsets.flatMap(({ addresses }) => addresses.map(({ ip }) => ip));
};
const namesOf = (objects: readonly KubernetesObject[]): string[] =>
  objects.map(({ metadata }) => metadata?.name ?? '').sort();
const list = async ({ writer }: Server, resource: string, group = '', namespace = ''): Promise<string[]> =>
  namesOf(await writer.list({ group, resource }, namespace));

test('three servers that start at the same time on an empty store set up one cluster', async () => {
  const store = new MemoryStore();
  const servers = [1, 2, 3].map((number) => serverOn(store, number));
  const [first] = servers as [Server, Server, Server];
  await until('all are ready', async () => {
    for (const { clock } of servers) clock.advance(10);
    const ready = await Promise.all(servers.map((server) => server.isReady()));
    return ready.every(Boolean);
  });
  expect(servers.flatMap(({ failed }) => failed)).toEqual([]);
  expect(await list(first, 'namespaces')).toEqual([
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ]);
  const namespace = await first.writer.get({ group: '', resource: 'namespaces' }, '', 'default');
  expect(namespace?.metadata?.managedFields).toMatchObject([
    {
      manager: 'kube-apiserver',
      operation: 'Update',
      apiVersion: 'v1',
      fieldsV1: { 'f:metadata': { 'f:labels': { '.': {}, 'f:kubernetes.io/metadata.name': {} } } },
    },
  ]);
  expect(await list(first, 'priorityclasses', 'scheduling.k8s.io')).toEqual([
    'system-cluster-critical',
    'system-node-critical',
  ]);
  expect(await list(first, 'clusterroles', 'rbac.authorization.k8s.io')).toEqual(
    namesOf(bootstrapPolicy(MINOR).clusterRoles as unknown as KubernetesObject[]),
  );
  expect(await list(first, 'flowschemas', 'flowcontrol.apiserver.k8s.io')).toHaveLength(11);
  expect(await list(first, 'prioritylevelconfigurations', 'flowcontrol.apiserver.k8s.io')).toHaveLength(8);
  expect(await list(first, 'leases', 'coordination.k8s.io', 'kube-system')).toEqual(
    [1, 2, 3].map((number) => apiServerId(`cp-${number}`)).sort(),
  );
  expect(await list(first, 'configmaps', '', 'kube-system')).toEqual([
    'extension-apiserver-authentication',
    'kube-apiserver-legacy-service-account-token-tracking',
  ]);
  expect(
    await first.writer.get({ group: 'networking.k8s.io', resource: 'servicecidrs' }, '', 'kubernetes'),
  ).toMatchObject({
    spec: { cidrs: ['10.96.0.0/16'] },
    status: { conditions: [{ type: 'Ready', status: 'True' }] },
  });
});

test('one server creates the default policy of a new cluster', async () => {
  const store = new MemoryStore();
  const tries: string[] = [];
  const flowTries: string[] = [];
  store.beforeWrite = (key) => {
    if (/^\/registry\/(cluster)?role(binding)?s\//.test(key)) tries.push(key);
    if (/^\/registry\/(flowschemas|prioritylevelconfigurations)\//.test(key)) flowTries.push(key);
  };
  const servers = [1, 2, 3].map((number) => serverOn(store, number));
  await until('all are ready', async () => {
    for (const { clock } of servers) clock.advance(10);
    const ready = await Promise.all(servers.map((server) => server.isReady()));
    return ready.every(Boolean);
  });
  const count = Object.values(bootstrapPolicy(MINOR)).reduce((sum, list) => sum + list.length, 0);
  expect(new Set(tries).size).toBe(count);
  // The first role is what they compete for.
  expect(tries.length).toBeLessThanOrEqual(count + servers.length - 1);
  expect(flowTries.length).toBe(new Set(flowTries).size);
});

test('the kubernetes service shows every server that lives, and one that ends is gone', async () => {
  const store = new MemoryStore();
  const servers = [1, 2].map((number) => serverOn(store, number));
  const [first, second] = servers as [Server, Server];
  await until('both are in the endpoints', async () => {
    for (const { clock } of servers) clock.advance(100);
    return (await addressesOf(first)).length === 2;
  });
  expect(await first.writer.get({ group: '', resource: 'services' }, 'default', 'kubernetes')).toMatchObject({
    spec: { clusterIP: '10.96.0.1', ports: [{ name: 'https', port: 443, targetPort: 6443 }] },
  });
  const slices = { group: 'discovery.k8s.io', resource: 'endpointslices' };
  expect(await first.writer.get(slices, 'default', 'kubernetes')).toMatchObject({
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'] }, { addresses: ['192.0.2.2'] }],
    ports: [{ name: 'https', port: 6443, protocol: 'TCP' }],
  });
  await second.bootstrap.stop();
  expect(await addressesOf(first)).toEqual(['192.0.2.1']);
  await first.bootstrap.stop();
  expect(await addressesOf(first)).toEqual([]);
});

test('a server that dies without a word is taken out by another when its lease ends', async () => {
  const store = new MemoryStore();
  const first = serverOn(store, 1);
  const encoder = new TextEncoder();
  store.put('/registry/masterleases/192.0.2.9', encoder.encode('{}'));
  await until('both are in the endpoints', async () => {
    first.clock.advance(100);
    return (await addressesOf(first)).length === 2;
  });
  store.put('/registry/masterleases/192.0.2.9', undefined);
  await until('only the living is left', async () => {
    first.clock.advance(10_000);
    return (await addressesOf(first)).length === 1;
  });
  expect(await addressesOf(first)).toEqual(['192.0.2.1']);
  await first.bootstrap.stop();
});

test('the authorizers are fed with what the caches hold, and hear of deletions', async () => {
  const store = new MemoryStore();
  const first = serverOn(store, 1);
  await until('ready', async () => {
    first.clock.advance(10);
    return first.isReady();
  });
  const [policy, graph] = [new PolicyIndex(), new NodeGraph()];
  const informer = createInternalInformer({
    registry: first.registry,
    user: APISERVER_USER,
    clock: first.clock,
    log: silentLog,
  });
  closing.push(() => informer.dispose());
  const feed = startPolicyFeed({ informer, policy, graph });
  await feed.ready;
  expect([...policy.clusterRoles()].length).toBe(bootstrapPolicy(MINOR).clusterRoles.length);
  const roles = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };
  const known = (): boolean => [...policy.clusterRoles()].some(({ metadata }) => metadata.name === 'mine');
  await first.writer.create(roles, {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: 'mine' },
    rules: [],
  });
  await until('the new role is known', known);
  await first.writer.delete(roles, '', 'mine');
  await until('the deleted role is forgotten', () => !known());
  await first.bootstrap.stop();
});

test('existing objects are not written again', async () => {
  const store = new MemoryStore();
  const first = serverOn(store, 1);
  await until('in the endpoints', async () => {
    first.clock.advance(100);
    return (await addressesOf(first)).length === 1;
  });
  await first.bootstrap.stop();
  const { writer, clock } = first;
  await writeEndpoints(writer, ['192.0.2.1'], 6443);
  const before = store.writes;
  await ensureSystemNamespaces(writer);
  await ensureSystemPriorityClasses(writer);
  await ensureFlowControl(writer);
  await ensureRbacPolicy(writer, MINOR, silentLog);
  await ensureServiceCidr({ writer, clock, cidrs: ['10.96.0.0/16'] });
  await ensureClusterAuthentication(writer, AUTHENTICATION);
  await writeEndpoints(writer, ['192.0.2.1'], 6443);
  expect(store.writes - before).toBe(0);
});
