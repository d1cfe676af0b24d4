import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Registry } from '../../base/metrics/index.ts';
import { MeteredStore } from './metered-store.ts';
import type { Store, StoredValue, Transformed } from './store.ts';

const stored: StoredValue = { key: '/registry/pods/a/b', value: new Uint8Array(), revision: 1 };

test('time spent in the update callback does not count as etcd latency', async () => {
  const clock = manualClock();
  const metrics = new Registry();
  const inner: Partial<Store> = {
    async guaranteedUpdate(_key, options) {
      clock.advance(100);
      await options.transform(stored);
      clock.advance(100);
      return stored;
    },
    get: () => Promise.reject(new Error('gone')),
  };
  const store = new MeteredStore(inner as Store, {
    metrics,
    clock,
    resourceOf: (key) => (key.startsWith('/registry/pods/') ? { group: '', resource: 'pods' } : undefined),
  });
  await store.guaranteedUpdate(stored.key, {
    transform(): Transformed {
      clock.advance(5000);
      return 'keep';
    },
  });
  await expect(store.get(stored.key)).rejects.toThrow('gone');
  await expect(store.get('/registry/ranges/x')).rejects.toThrow('gone');
  const lines = metrics.expose().split('\n');
  const labels = (operation: string): string => `{group="",operation="${operation}",resource="pods"}`;
  expect(lines.filter((line) => line.startsWith('etcd_requests_total'))).toEqual([
    `etcd_requests_total${labels('get')} 1`,
    `etcd_requests_total${labels('update')} 1`,
  ]);
  expect(lines.filter((line) => line.startsWith('etcd_request_errors_total'))).toEqual([
    `etcd_request_errors_total${labels('get')} 1`,
  ]);
  expect(lines).toContain(`etcd_request_duration_seconds_sum${labels('update')} 0.2`);
});
