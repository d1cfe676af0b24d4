import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { systemClock } from '../../base/node/clock.ts';
import { readAuthorities, readPair, watchFiles } from '../../base/node/pem-files.ts';
import type { Backend } from './backend-pool.ts';
import { createLoadBalancer, type LoadBalancer } from './load-balancer.ts';
import type { CheckTls } from './readyz-check.ts';

/** Plain data: it can be sent to the thread or process that runs the load balancer. */
export interface LoadBalancerConfig {
  readonly address: string;
  readonly port: number;
  readonly advertised?: string;
  readonly backends: readonly Backend[];
  readonly caFile: string;
  /** Empty: the checks come without a certificate. */
  readonly certFile: string;
  readonly keyFile: string;
  readonly connectionsMax?: number;
  readonly drainGraceMs?: number;
  readonly firstBackendWaitMs?: number;
}

const loadTls = async ({ caFile, certFile, keyFile }: LoadBalancerConfig): Promise<CheckTls> => {
  const [ca, pair] = await Promise.all([
    readAuthorities(caFile),
    certFile === '' ? undefined : readPair(certFile, keyFile),
  ]);
  return { ca, ...pair };
};

/** The load balancer on this machine's clock and files; renewed certificates are taken up without a restart. */
export const runLoadBalancer = async (config: LoadBalancerConfig, log: Log): Promise<LoadBalancer> => {
  const clock = systemClock;
  const { address, port, backends, advertised, connectionsMax, drainGraceMs, firstBackendWaitMs } = config;
  const balancer = await createLoadBalancer({
    address,
    port,
    backends,
    tls: await loadTls(config),
    clock,
    log,
    ...(advertised !== undefined && { advertised }),
    ...(connectionsMax !== undefined && { connectionsMax }),
    ...(drainGraceMs !== undefined && { drainGraceMs }),
    ...(firstBackendWaitMs !== undefined && { firstBackendWaitMs }),
  });
  const onProblem = (error: unknown): void =>
    log.write('warn', 'failed to reload certificates for health checks', { error: messageOf(error) });
  const watching = watchFiles(
    [config.caFile, config.certFile, config.keyFile],
    clock,
    () => void loadTls(config).then((tls) => balancer.setTls(tls), onProblem),
    onProblem,
  );
  return {
    ...balancer,
    async close() {
      watching.dispose();
      await balancer.close();
    },
  };
};
