import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { HealthCheck } from '../../component/health.ts';
import type { Store } from '../storage/store.ts';

/** A linearizable read, which only a quorum answers. */
export const etcdCheck = (store: Store, clock: Clock, timeoutMs: number): HealthCheck => ({
  name: 'etcd',
  async check() {
    let timer: Disposable | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = clock.after(timeoutMs, () =>
        reject(new Error('error getting data from etcd: context deadline exceeded')),
      );
    });
    await Promise.race([store.currentRevision(), late]).finally(() => timer?.dispose());
  },
});
