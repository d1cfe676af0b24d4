import { expect, test } from 'vitest';
import { manualClock } from '../../core/base/manual-clock.ts';
import type { ClientConfig } from '../../core/client/index.ts';
import type { ClusterEntry } from '../../core/contract/index.ts';
import { createAuthority } from '../../core/pki/index.ts';
import { assertNotExpired, clientExpiryMs } from './client-expiry.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const DAY_MS = 86_400_000;
const { certificatePem: data } = createAuthority({
  commonName: 'dev',
  clock: manualClock(NOW_MS),
  validityMs: DAY_MS,
});
const config = (auth: ClientConfig['auth']): ClientConfig => ({
  servers: ['https://127.0.0.1:6443'],
  namespace: 'default',
  auth,
});
const entry: ClusterEntry = {
  id: 'x',
  name: 'prod',
  origin: 'kubeconfig',
  server: 'https://127.0.0.1:6443',
  user: 'dev',
  namespace: 'default',
  kubeconfigPath: '/home/dev/.kube/config',
  readOnly: true,
  local: null,
};

test('a certificate counts where nothing else speaks for the user', async () => {
  expect(await clientExpiryMs(config({ certificate: { data } }))).toBe(NOW_MS + DAY_MS);
  expect(await clientExpiryMs(config({ certificate: { data }, token: 'abc' }))).toBeUndefined();
  expect(await clientExpiryMs(config({ certificate: { file: '/nowhere' } }))).toBeUndefined();
});

test('an expired one is named with its file, its day and what to do', () => {
  expect(() => assertNotExpired(entry, NOW_MS + DAY_MS, NOW_MS)).not.toThrow();
  expect(() => assertNotExpired(entry, NOW_MS, NOW_MS + DAY_MS)).toThrow(
    'the client certificate of dev in /home/dev/.kube/config expired on 2026-01-01; get a new kubeconfig',
  );
  expect(() => assertNotExpired({ ...entry, origin: 'local' }, NOW_MS, NOW_MS + DAY_MS)).toThrow(
    'renew it on the Certificates page',
  );
});
