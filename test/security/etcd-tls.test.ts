import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type ConnectionOptions } from 'node:tls';
import { expect, inject, test } from 'vitest';
import { stateOf } from './default-cluster.ts';

const data = inject('attackedData');
const OTHERS = 0o077;

const membersOf = async (): Promise<{ name: string; address: string }[]> =>
  (await stateOf(data)).hosts.filter(({ name }) => name.startsWith('cp-'));

test('no one but their owner may use the files of a member', async () => {
  for (const { name } of await membersOf()) {
    const directory = join(data, 'hosts', name, 'etcd');
    const paths = readdirSync(directory, { recursive: true, encoding: 'utf8' });
    expect(paths.filter((path) => /\.(lmdb|lmdb-lock|wal)$/.test(path)).length).toBeGreaterThanOrEqual(3);
    const open = paths.filter((path) => (lstatSync(join(directory, path)).mode & OTHERS) !== 0);
    expect(open).toEqual([]);
  }
});

/** Even the certificate of an API server gets no weak session. */
const credentials = () => ({
  ca: readFileSync(join(data, 'pki/etcd/ca.crt')),
  cert: readFileSync(join(data, 'pki/apiserver-etcd-client.crt')),
  key: readFileSync(join(data, 'pki/apiserver-etcd-client.key')),
});

const handshake = (host: string, port: number, options: ConnectionOptions): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, ...credentials(), ...options }, () => {
      resolve(`${socket.getProtocol()} ${socket.getCipher().name}`);
      socket.destroy();
    });
    socket.once('error', () => resolve('rejected'));
  });

const ALL = 'ALL:@SECLEVEL=0';
const CBC =
  'AES128-SHA:AES256-SHA:ECDHE-RSA-AES128-SHA:ECDHE-ECDSA-AES128-SHA:ECDHE-ECDSA-AES256-SHA384:@SECLEVEL=0';

test.each([2379, 2380])(
  'port %i of a member speaks no CBC suite and nothing before TLS 1.2',
  async (port) => {
    for (const { address } of await membersOf()) {
      expect(await handshake(address, port, { maxVersion: 'TLSv1.2', ciphers: ALL })).toMatch(
        /^TLSv1\.2 ECDHE-\w+-(AES\d+-GCM|CHACHA20-POLY1305)/,
      );
      expect(await handshake(address, port, { maxVersion: 'TLSv1.2', ciphers: CBC })).toBe('rejected');
      const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: ALL } as const;
      expect(await handshake(address, port, old)).toBe('rejected');
    }
  },
);
