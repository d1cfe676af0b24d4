import type { Log } from '../../base/log.ts';
import type { RpcObserver } from '../rpc/index.ts';

/** `--warning-unary-request-duration`: unary calls that took longer are logged as etcd logs them. */
export const withSlowRequests = (
  observer: RpcObserver,
  { log, slowMs }: { readonly log: Log; readonly slowMs: number },
): RpcObserver => ({
  ...observer,
  handled(method, code, durationMs, remote) {
    observer.handled(method, code, durationMs, remote);
    if (slowMs === 0 || durationMs <= slowMs || method.type !== 'unary') return;
    log.write('warn', 'request stats', {
      'time spent': `${durationMs.toFixed(1)}ms`,
      'expected-duration': `${slowMs}ms`,
      remote,
      'response type': `/${method.service}/${method.method}`,
      code,
    });
  },
});
