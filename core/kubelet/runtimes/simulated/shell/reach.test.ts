import { expect, test } from 'vitest';
import { MemoryFileSystem, newLayer } from './file-system.ts';
import type { Process } from './process.ts';
import { isWithin } from './networks.ts';
import { reach } from './reach.ts';

const HOSTS = '127.0.0.1\tlocalhost\n127.65.0.9\tweb-0\n127.64.70.1\tinside\n8.8.8.8\toutside # alias\n';
const process = {
  host: {
    podIP: '127.65.0.9',
    networks: ['127.64.0.0/16', '127.65.0.0/16'],
    fileSystem: new MemoryFileSystem(newLayer(new Map([['/etc/hosts', HOSTS]])), []),
  },
} as unknown as Process;

test.each([
  ['localhost', '127.65.0.9'],
  ['127.0.0.1', '127.65.0.9'],
  ['web-0', '127.65.0.9'],
  ['inside', '127.64.70.1'],
  ['127.64.0.100', '127.64.0.100'],
  ['127.65.255.255', '127.65.255.255'],
])('%s is reached', async (name, address) => {
  expect(await reach(process, name)).toBe(address);
});

test.each([
  '127.66.0.1',
  '127.0.0.2',
  '0.0.0.0',
  '10.0.0.1',
  '8.8.8.8',
  'outside',
  '::1',
  '[::1]',
  '::ffff:127.64.0.1',
])('%s is not reached', async (name) => {
  await expect(reach(process, name)).rejects.toThrow('Network is unreachable');
});

test.each(['example.com', 'kubernetes.default', '', 'metadata', '127.64.0.1.nip.io'])(
  '%s has no address',
  async (name) => {
    await expect(reach(process, name)).rejects.toThrow(`bad address '${name}'`);
  },
);

test('a range holds the addresses that share its first bits', () => {
  expect(
    ['127.64.63.255', '127.64.64.0', '127.64.127.255', '127.64.128.0'].map((a) =>
      isWithin(a, ['127.64.64.0/18']),
    ),
  ).toEqual([false, true, true, false]);
});
