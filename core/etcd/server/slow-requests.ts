import type { Log } from '../../base/log.ts';
import type { RpcObserver } from '../rpc/index.ts';

/**
 * `--warning-unary-request-duration`: unary calls that took longer are logged as etcd logs them. Calls that the end of the
 * member cuts off are not: the last line of its log is the reason why it ended.
 */
export const withSlowRequests = (
  observer: RpcObserver,
  {
    log,
    slowMs,
    isClosing,
  }: { readonly log: Log; readonly slowMs: number; readonly isClosing: () => boolean },
): RpcObserver => ({
  ...observer,
  handled(method, code, durationMs, remote) {
    observer.handled(method, code, durationMs, remote);
    if (slowMs === 0 || durationMs <= slowMs || method.type !== 'unary' || isClosing()) return;
    log.write('warn', 'request stats', {
      'time spent': `${durationMs.toFixed(1)}ms`,
      'expected-duration': `${slowMs}ms`,
      remote,
      'response type': `/${method.service}/${method.method}`,
      code,
    });
  },
});
