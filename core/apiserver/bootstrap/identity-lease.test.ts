import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { silentLog } from '../../base/log.ts';
import { apiServerId, collectIdentityLeases, renewIdentityLease } from './identity-lease.ts';
import { memoryWriter } from './testing/memory-writer.ts';

const LEASES = { group: 'coordination.k8s.io', resource: 'leases' };

test('a server is named after the hash of its host, as upstream names it', () => {
  expect(apiServerId('cp-1')).toBe('apiserver-zvmq3lqpnerbhbin5novlsptoe');
});

test('a lease is renewed in place, says whose it is, and ends an hour after the last renewal', async () => {
  const [writer, clock] = [memoryWriter(), manualClock()];
  const options = { writer, clock, hostname: 'cp-1', instance: 'life' };
  await renewIdentityLease(options);
  clock.advance(10_000);
  await renewIdentityLease(options);
  const name = apiServerId('cp-1');
  expect(await writer.get(LEASES, 'kube-system', name)).toMatchObject({
    metadata: {
      labels: { 'apiserver.kubernetes.io/identity': 'kube-apiserver', 'kubernetes.io/hostname': 'cp-1' },
    },
    spec: {
      holderIdentity: `${name}_life`,
      leaseDurationSeconds: 3600,
      renewTime: '2026-01-01T00:00:10.000000Z',
    },
  });
  await collectIdentityLeases(writer, clock, silentLog);
  expect(writer.objects.size).toBe(1);
  clock.advance(3_600_001);
  writer.put(LEASES, { metadata: { namespace: 'kube-system', name: 'kube-scheduler' }, spec: {} });
  await collectIdentityLeases(writer, clock, silentLog);
  expect([...writer.objects.keys()]).toEqual(['leases.coordination.k8s.io/kube-system/kube-scheduler']);
});
