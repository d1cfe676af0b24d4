import { expect, test } from 'vitest';
import { silentLog } from '../../../base/log.ts';
import { manualClock } from '../../../base/manual-clock.ts';
import { seededRandom } from '../../../base/random.ts';
import type { GenericStore } from '../generic/generic-store.ts';
import { LIST_ALL, NO_OPTIONS, scopeOf, serviceOf, testRegistry } from '../testing/fixtures.ts';
import { IpPool } from './ip-pool.ts';
import { NODE_PORTS_KEY, PortBits, PortPool } from './port-pool.ts';
import type { ServiceSpec } from './service-fields.ts';
import { ServiceRepair } from './service-repair.ts';

const NETWORK = 'networking.k8s.io';

test('repair restores lost addresses and frees orphans and leaked ports after a crash', async () => {
  const clock = manualClock();
  const { registry, store } = testRegistry({ clock, serviceCidrs: ['10.96.0.0/24'] });
  const [services, addresses, cidrs] = [
    registry.storageOf('', 'services', ''),
    registry.storageOf(NETWORK, 'ipaddresses', ''),
    registry.storageOf(NETWORK, 'servicecidrs', ''),
  ] as GenericStore[];
  const addressPool = new IpPool(addresses!, cidrs!, ['10.96.0.0/24']);
  const portPool = new PortPool({
    store,
    range: { first: 30_000, last: 32_767 },
    random: seededRandom(1),
    portsInUse: async () => [],
  });
  const repair = new ServiceRepair({
    services: services!,
    addresses: addresses!,
    addressPool,
    portPool,
    log: silentLog,
  });
  const { object } = await services!.create(scopeOf(), serviceOf('a', { type: 'NodePort' }), NO_OPTIONS);
  const spec = object['spec'] as ServiceSpec;
  await addressPool.release(spec.clusterIP!);
  await addressPool.take('10.96.0.200', { namespace: 'default', name: 'gone' }, false);
  await portPool.take(30_500, false);
  const held = async (): Promise<unknown> => {
    const { items } = await addresses!.list(scopeOf(''), LIST_ALL);
    const { value } = await store.get(NODE_PORTS_KEY);
    const bits = new PortBits(
      Buffer.from((JSON.parse(Buffer.from(value).toString()) as { data: string }).data, 'base64'),
    );
    return [
      items.map((item) => item.object.metadata?.name).sort(),
      [30_500, spec.ports![0]!.nodePort!].map((port) => bits.has(port - 30_000)),
    ];
  };
  await repair.runOnce();
  const young = await held();
  clock.advance(61_000);
  await repair.runOnce();
  const second = await held();
  await repair.runOnce();
  const third = await held();
  registry.close();
  expect([young, second, third]).toEqual([
    [[spec.clusterIP, '10.96.0.200'].sort(), [true, true]],
    [[spec.clusterIP], [true, true]],
    [[spec.clusterIP], [false, true]],
  ]);
});
