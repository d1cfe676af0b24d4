import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Node, Stored } from '../../client/index.ts';
import { inRange, lowestFree, parseRange } from '../address-range.ts';
import { INSTANCE_FILE, markInstance } from './instance-file.ts';
import { loopbackInstances, zoneOf } from './instances.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'loopback-cloud-'));
});
afterAll(() => rm(folder, { recursive: true }));

const node: Stored<Node> = {
  metadata: {
    name: 'worker-2',
    uid: 'u',
    resourceVersion: '1',
    annotations: { 'alpha.kubernetes.io/provided-node-ip': '127.20.16.2' },
  },
};

test('a range has neither the address of the network nor the broadcast', () => {
  const range = parseRange('127.20.8.0/30')!;
  const taken = new Set<string>();
  for (let next = lowestFree(range, (address) => taken.has(address)); next !== undefined;) {
    taken.add(next);
    next = lowestFree(range, (address) => taken.has(address));
  }
  expect([...taken]).toEqual(['127.20.8.1', '127.20.8.2']);
  expect([inRange(range, '127.20.8.2'), inRange(range, '127.20.8.3'), inRange(range, '')]).toEqual([
    true,
    false,
    false,
  ]);
});

test.each(['10.0.0.0/24', '127.0.0.0', '127.20.8.0/31', '127.20.8.0/4', '127.20.300.0/24'])(
  '%s is no range for load balancers',
  (cidr) => {
    expect(parseRange(cidr)).toBeUndefined();
  },
);

test('hosts of one name go over the zones in turn', () => {
  expect(['cp-1', 'cp-2', 'cp-3', 'worker-4'].map(zoneOf)).toEqual(['zone-a', 'zone-b', 'zone-c', 'zone-a']);
  expect(zoneOf('laptop')).toBe(zoneOf('laptop'));
});

test('an instance is there, stopped or gone as the file says', async () => {
  const instances = loopbackInstances(folder);
  expect([await instances.exists(node), await instances.isShutDown(node)]).toEqual([true, false]);
  expect(await instances.metadataOf(node)).toEqual({
    providerID: 'loopback:///zone-b/worker-2',
    instanceType: 'loopback.standard',
    nodeAddresses: [
      { type: 'InternalIP', address: '127.20.16.2' },
      { type: 'Hostname', address: 'worker-2' },
    ],
    zone: 'zone-b',
    region: 'loopback',
    additionalLabels: {},
  });
  await markInstance(folder, 'worker-2', { state: 'stopped', zone: 'zone-c', type: 'loopback.large' });
  expect([await instances.exists(node), await instances.isShutDown(node)]).toEqual([true, true]);
  expect(await instances.metadataOf(node)).toMatchObject({ zone: 'zone-c', instanceType: 'loopback.large' });
  await markInstance(folder, 'worker-2', { state: 'deleted' });
  expect(await instances.exists(node)).toBe(false);
  await expect(instances.metadataOf(node)).rejects.toMatchObject({ reason: 'InstanceNotFound' });
});

test.each(['{', '[]', '{"instances": {"worker-2": {"state": "exploded"}}}'])(
  'a file that says %s is an error and not the end of every instance',
  async (text) => {
    await writeFile(join(folder, INSTANCE_FILE), text);
    await expect(loopbackInstances(folder).exists(node)).rejects.toMatchObject({ reason: 'BadInstances' });
  },
);
