import { expect, test } from 'vitest';
import { manualClock } from '../../../base/manual-clock.ts';
import { silentLog, type Log } from '../../../base/log.ts';
import { invalid } from '../../../api/meta/index.ts';
import { MemoryStore } from '../../registry/testing/fixtures.ts';
import { memoryWriter } from '../testing/memory-writer.ts';
import { startKubernetesService } from './kubernetes-service.ts';

const SERVICES = { group: '', resource: 'services' };
const TURNS_MAX = 5_000;

test('a service whose address another server has just taken for it is waited for, not given up', async () => {
  const [store, memory, clock] = [new MemoryStore(), memoryWriter(), manualClock()];
  let refusals = 0;
  const complaints: string[] = [];
  const log: Log = { ...silentLog, write: (_level, text) => complaints.push(text) };
  const writer: typeof memory = {
    ...memory,
    create(resource, object) {
      if (resource.resource !== 'services') return memory.create(resource, object);
      refusals += 1;
      // The winner's address is held immediately, and its service is there a moment later.
      if (refusals === 2) memory.put(SERVICES, object);
      const cause = { field: 'spec.clusterIPs', message: 'provided IP is already allocated' };
      return Promise.reject(invalid({ group: '', kind: 'Service' }, 'kubernetes', [cause]));
    },
  };
  const service = startKubernetesService({
    writer,
    store,
    clock,
    log,
    advertiseAddress: '192.0.2.1',
    securePort: 6443,
    serviceIp: '10.96.0.1',
    isServing: () => Promise.resolve(true),
  });
  const key = 'endpoints/default/kubernetes';
  for (let turn = 0; turn < TURNS_MAX && !memory.objects.has(key); turn += 1) {
    clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect([refusals, complaints, memory.objects.get(key)?.['subsets']]).toEqual([
    2,
    [],
    [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] }],
  ]);
  expect(store.revision).toBeGreaterThan(1);
  await service.stop();
});

test('with --endpoint-reconciler-type=none the service is kept, and its endpoints are left alone', async () => {
  const [store, writer, clock] = [new MemoryStore(), memoryWriter(), manualClock()];
  const service = startKubernetesService({
    writer,
    store,
    clock,
    log: silentLog,
    advertiseAddress: '192.0.2.1',
    securePort: 6443,
    serviceIp: '10.96.0.1',
    reconcilesEndpoints: false,
    isServing: () => Promise.resolve(true),
  });
  for (let turn = 0; turn < TURNS_MAX && writer.objects.size === 0; turn += 1) {
    clock.advance(1);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const before = store.revision;
  await service.stop();
  expect([[...writer.objects.keys()], store.revision - before]).toEqual([['services/default/kubernetes'], 0]);
});
