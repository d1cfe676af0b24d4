import { afterEach, beforeEach, expect, test } from 'vitest';
import { seededRandom } from '../../../base/random.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { StorageError } from '../../storage/errors.ts';
import type { RestStorage } from '../rest-storage.ts';
import {
  changing,
  deleting,
  LIST_ALL,
  MemoryStore,
  NO_OPTIONS,
  refusalOf,
  scopeOf,
  serviceOf,
  storageIn,
  testRegistry,
  type TestRegistry,
} from '../testing/fixtures.ts';
import { AddressRange } from './address-range.ts';
import { PortBits, PortPool } from './port-pool.ts';
import type { ServiceSpec } from './service-fields.ts';

let opened: TestRegistry;
let services: Required<RestStorage>;
beforeEach(() => {
  opened = testRegistry({ serviceCidrs: ['10.96.0.0/24'] });
  services = storageIn(opened, '', 'services');
});
afterEach(() => opened.registry.close());

const create = async (name: string, spec: object = {}): Promise<ServiceSpec> =>
  (await services.create(scopeOf(), serviceOf(name, spec), NO_OPTIONS)).object['spec'] as ServiceSpec;
const update = async (name: string, change: (spec: ServiceSpec) => object): Promise<ServiceSpec> => {
  const { held } = await services.update(
    scopeOf(),
    name,
    changing((now) => ({ ...now, spec: change(now['spec'] as ServiceSpec) }) as KubernetesObject),
  );
  return held.object['spec'] as ServiceSpec;
};
const addresses = async (): Promise<string[]> => {
  const { items } = await storageIn(opened, 'networking.k8s.io', 'ipaddresses').list(scopeOf(''), LIST_ALL);
  return items.map(({ object }) => object.metadata?.name ?? '');
};
const portsTaken = async (): Promise<number> => {
  const { items } = await opened.store.list('/registry/ranges/servicenodeports');
  if (items[0] === undefined) return 0;
  const { data } = JSON.parse(Buffer.from(items[0].value).toString()) as { data: string };
  const bits = new PortBits(Buffer.from(data, 'base64'));
  return Array.from({ length: 2768 }, (_, i) => bits.has(i)).filter(Boolean).length;
};

test('a service gets an address of its own, kept as an object that names it', async () => {
  const spec = await create('a');
  const held = await storageIn(opened, 'networking.k8s.io', 'ipaddresses').get(scopeOf(''), spec.clusterIP!, {
    resourceVersion: '',
  });
  expect([
    spec.clusterIPs,
    spec.ipFamilies,
    spec.ipFamilyPolicy,
    held.object['spec'],
    held.object.metadata?.labels,
  ]).toEqual([
    [spec.clusterIP],
    ['IPv4'],
    'SingleStack',
    { parentRef: { group: '', resource: 'services', namespace: 'default', name: 'a' } },
    {
      'ipaddress.kubernetes.io/ip-family': 'IPv4',
      'ipaddress.kubernetes.io/managed-by': 'ipallocator.k8s.io',
    },
  ]);
});

test('two servers on one etcd never give an address or a port twice', async () => {
  const other = testRegistry({ serviceCidrs: ['10.96.0.0/24'], store: opened.store });
  const specs = await Promise.all(
    Array.from({ length: 60 }, async (_, i) => {
      const { object } = await storageIn(i % 2 === 0 ? opened : other, '', 'services').create(
        scopeOf(),
        serviceOf(`s${i}`, { type: 'NodePort' }),
        NO_OPTIONS,
      );
      return object['spec'] as ServiceSpec;
    }),
  );
  other.registry.close();
  expect([
    new Set(specs.map(({ clusterIP }) => clusterIP)).size,
    new Set(specs.map(({ ports }) => ports?.[0]?.nodePort)).size,
    await portsTaken(),
  ]).toEqual([60, 60, 60]);
});

test('deleting a Service releases its addresses and ports', async () => {
  await create('a', { type: 'NodePort' });
  const before = [(await addresses()).length, await portsTaken()];
  await services.delete(scopeOf(), 'a', deleting());
  expect([before, await addresses(), await portsTaken()]).toEqual([[1, 1], [], 0]);
});

test('a rejected request or a dry run allocates nothing', async () => {
  const refused = services.create(scopeOf(), serviceOf('a', { type: 'NodePort' }), {
    dryRun: false,
    validate: () => Promise.reject(new Error('admission says no')),
  });
  await expect(refused).rejects.toThrow('admission says no');
  const dry = await services.create(scopeOf(), serviceOf('b', { type: 'NodePort' }), {
    ...NO_OPTIONS,
    dryRun: true,
  });
  await create('c');
  const taken = await refusalOf(services.create(scopeOf(), serviceOf('c', { type: 'NodePort' }), NO_OPTIONS));
  expect([
    typeof (dry.object['spec'] as ServiceSpec).clusterIP,
    taken,
    (await addresses()).length,
    await portsTaken(),
  ]).toEqual(['string', '409 AlreadyExists: services "c" already exists', 1, 0]);
});

test('addresses and ports that are asked for are taken, and refused in the words of upstream', async () => {
  await create('a', { clusterIP: '10.96.0.10', type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] });
  const bad = (name: string, spec: object) => refusalOf(create(name, spec));
  expect([
    await bad('b', { clusterIP: '10.96.0.10' }),
    await bad('b', { clusterIP: '10.97.0.1' }),
    await bad('b', { clusterIP: 'fd00::1' }),
    await bad('b', { clusterIP: 'web' }),
    await bad('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 30_080 }] }),
    await bad('b', { type: 'NodePort', ports: [{ port: 80, nodePort: 80 }] }),
    await bad('b', { ipFamilyPolicy: 'RequireDualStack' }),
    await bad('b', { ipFamilies: ['IPv6'] }),
    await addresses(),
    await portsTaken(),
  ]).toEqual([
    '422 Invalid: Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.96.0.10"]: failed to allocate IP 10.96.0.10: provided IP is already allocated',
    '422 Invalid: Service "b" is invalid: spec.clusterIPs: Invalid value: ["10.97.0.1"]: failed to allocate IP 10.97.0.1: the provided network does not match the current range',
    '422 Invalid: Service "b" is invalid: spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
    '422 Invalid: Service "b" is invalid: spec.clusterIPs[0]: Invalid value: "web": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)',
    '422 Invalid: Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated',
    '422 Invalid: Service "b" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    '422 Invalid: Service "b" is invalid: spec.ipFamilyPolicy: Invalid value: "RequireDualStack": this cluster is not configured for dual-stack services',
    '422 Invalid: Service "b" is invalid: spec.ipFamilies[0]: Invalid value: "IPv6": not configured on this cluster',
    ['10.96.0.10'],
    1,
  ]);
});

test('a write that may have happened keeps what it took', async () => {
  opened.store.beforeWrite = (key) => {
    if (!key.startsWith('/registry/services/specs/')) return;
    opened.store.beforeWrite = undefined;
    throw new StorageError('Timeout', 'no answer', { outcomeKnown: false });
  };
  expect(await refusalOf(create('a', { type: 'NodePort' }))).toMatch(/^504 Timeout/);
  expect([(await addresses()).length, await portsTaken()]).toEqual([1, 1]);
});

test('headless services and external names get no address', async () => {
  const headless = await create('h', { clusterIP: 'None' });
  const bare = await create('s', { clusterIP: 'None', selector: undefined });
  const external = await create('e', { type: 'ExternalName', externalName: 'example.com', ports: undefined });
  expect([
    headless.clusterIPs,
    headless.ipFamilies,
    bare.ipFamilies,
    bare.ipFamilyPolicy,
    external.clusterIP,
    await addresses(),
  ]).toEqual([['None'], ['IPv4'], ['IPv4', 'IPv6'], 'RequireDualStack', undefined, []]);
});

test('a change of type takes what it needs and gives back the rest', async () => {
  const first = await create('a');
  const exposed = await update('a', (spec) => ({
    ...spec,
    type: 'NodePort',
    externalTrafficPolicy: 'Cluster',
  }));
  const kept = await update('a', ({ ports, clusterIP: _ip, clusterIPs: _ips, ...spec }) => ({
    ...spec,
    ports: ports?.map(({ nodePort: _port, ...port }) => port),
  }));
  const inside = await update('a', (spec) => ({ ...spec, type: 'ClusterIP' }));
  const portsLeft = await portsTaken();
  const external = await update('a', (spec) => ({
    ...spec,
    type: 'ExternalName',
    externalName: 'example.com',
  }));
  const addressesLeft = await addresses();
  const back = await update('a', (spec) => ({ ...spec, type: 'ClusterIP' }));
  expect([
    exposed.clusterIP === first.clusterIP,
    typeof exposed.ports?.[0]?.nodePort,
    [kept.clusterIP, kept.ports],
    inside.ports?.[0]?.nodePort,
    portsLeft,
    external.clusterIP,
    addressesLeft,
    typeof back.clusterIP,
    (await addresses()).length,
  ]).toEqual([true, 'number', [exposed.clusterIP, exposed.ports], undefined, 0, undefined, [], 'string', 1]);
});

test('one port number under two protocols shares a node port', async () => {
  const { ports } = await create('dns', {
    type: 'NodePort',
    ports: [
      { name: 'u', port: 53, protocol: 'UDP' },
      { name: 't', port: 53, protocol: 'TCP' },
    ],
  });
  expect([ports?.[0]?.nodePort === ports?.[1]?.nodePort, await portsTaken()]).toEqual([true, 1]);
});

test('a load balancer with local traffic gets a health check port', async () => {
  const spec = await create('lb', { type: 'LoadBalancer', externalTrafficPolicy: 'Local' });
  await services.delete(scopeOf(), 'lb', deleting());
  expect([typeof spec.healthCheckNodePort, await portsTaken()]).toEqual(['number', 0]);
});

test('on a cluster of two families a service may have both', async () => {
  const dual = testRegistry({ serviceCidrs: ['10.96.0.0/24', 'fd00:10:96::/112'] });
  const dualServices = storageIn(dual, '', 'services');
  const { object } = await dualServices.create(
    scopeOf(),
    serviceOf('a', { ipFamilyPolicy: 'PreferDualStack' }),
    NO_OPTIONS,
  );
  const spec = object['spec'] as ServiceSpec;
  const { held } = await dualServices.update(
    scopeOf(),
    'a',
    changing((now) => ({ ...now, spec: { ...(now['spec'] as object), ipFamilyPolicy: 'SingleStack' } })),
  );
  const { items } = await storageIn(dual, 'networking.k8s.io', 'ipaddresses').list(scopeOf(''), LIST_ALL);
  dual.registry.close();
  expect([
    spec.ipFamilies,
    spec.clusterIPs?.[1]?.startsWith('fd00:10:96::'),
    (held.object['spec'] as ServiceSpec).clusterIPs,
    items.length,
  ]).toEqual([['IPv4', 'IPv6'], true, [spec.clusterIP], 1]);
});

test('a range gives each usable address once, those for requests by hand last', () => {
  const all = [...new AddressRange('10.0.0.0/24').candidates(seededRandom(2))];
  const last = all.slice(-16).map((one) => Number(one.split('.')[3]));
  expect([
    all.length,
    new Set(all).size,
    Math.max(...last),
    all.includes('10.0.0.0'),
    all.includes('10.0.0.255'),
  ]).toEqual([254, 254, 16, false, false]);
  expect(new AddressRange('fd00::/120').firstAddress).toBe('fd00::1');
});

test('a full range of ports says so, and a cluster without a bitmap begins with what services hold', async () => {
  const store = new MemoryStore();
  const pool = new PortPool({
    store,
    range: { first: 30_000, last: 30_003 },
    random: seededRandom(1),
    portsInUse: async () => [30_001],
  });
  const taken = [await pool.takeNext(false), await pool.takeNext(false), await pool.takeNext(false)].sort();
  expect(taken).toEqual([30_000, 30_002, 30_003]);
  await expect(pool.takeNext(false)).rejects.toThrow('range is full');
  await pool.repair(new Set([30_000]), (port) => port === 30_001);
  expect(await pool.takeNext(false)).toBe(30_001);
});
