import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import { certificatePath, inspectPem, readKubeconfig } from '../../pki/index.ts';
import { manifestsFolder } from './layout.ts';
import { NO_ADDRESS, openDataFolder, type SpecWishes } from './open.ts';

const folder = (): string => {
  const data = mkdtempSync(join(tmpdir(), 'pilothouse-advertise-'));
  onTestFinished(() => rmSync(data, { recursive: true }));
  return data;
};

const open = async (data: string, wishes: SpecWishes) => {
  const { config, lock } = await openDataFolder(data, wishes, systemClock);
  lock.dispose();
  const hosts = ['cp-1', 'cp-2'];
  const namesOf = (host: string): readonly string[] =>
    inspectPem(readFileSync(certificatePath(data, `hosts/${host}/apiserver`), 'utf8')).alternativeNames
      .ipAddresses;
  const manifestOf = (host: string): string =>
    readFileSync(join(manifestsFolder(data, host), 'kube-apiserver.yaml'), 'utf8');
  const serverOf = (file: string): string =>
    readKubeconfig(readFileSync(join(data, 'kubeconfig', file), 'utf8'), file).server;
  return {
    address: config.spec.advertiseAddress,
    isNamed: hosts.every((host) => namesOf(host).includes('192.0.2.7')),
    isStatic: hosts.every((host) => manifestOf(host).includes('--endpoint-reconciler-type=none')),
    admin: serverOf('admin.conf'),
    component: serverOf('scheduler.conf'),
  };
};

test('an advertised address is in certificates, manifests and the kubeconfig until it is taken back', async () => {
  const data = folder();
  const size = { controlPlanes: 2, workers: 0, network: 40 };
  const loopback = 'https://127.40.0.100:6443';
  const none = { address: undefined, isStatic: false, admin: loopback, component: loopback };
  expect(await open(data, size)).toEqual({ ...none, isNamed: false });
  const advertised = await open(data, { advertiseAddress: '192.0.2.7' });
  const admin = 'https://192.0.2.7:6443';
  expect(advertised).toEqual({
    address: '192.0.2.7',
    isNamed: true,
    isStatic: true,
    admin,
    component: loopback,
  });
  // It stays for starts that do not name it.
  expect(await open(data, {})).toEqual(advertised);
  expect(await open(data, { advertiseAddress: NO_ADDRESS })).toMatchObject(none);
});

test.each(['0.0.0.0', '127.0.0.1', '192.0.2.0/24', 'example.com'])(
  '%s is refused as an advertised address',
  async (advertiseAddress) => {
    await expect(openDataFolder(folder(), { network: 40, advertiseAddress }, systemClock)).rejects.toThrow(
      'spec.advertiseAddress: must be one IPv4 address of this machine',
    );
  },
);
