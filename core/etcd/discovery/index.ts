import type { Clock } from '../../base/clock.ts';
import type { Disk } from '../../base/disk.ts';
import type { Log } from '../../base/log.ts';
import type { MemberConfig } from '../config/config.ts';
import { idText, planCluster } from '../membership/index.ts';
import { Wal } from '../wal/index.ts';
import { joinCluster } from './join-cluster.ts';

/** The configuration with the members that the discovery service knows; unchanged after the first start. */
export const discovered = async (
  config: MemberConfig,
  { disk, clock, log }: { readonly disk: Disk; readonly clock: Clock; readonly log: Log },
): Promise<MemberConfig> => {
  const { discovery } = config;
  if (discovery === undefined || (await Wal.exists(disk, config.walDirectory))) return config;
  const { grpcDiscoveryStore } = await import('./grpc-store.ts');
  const initialCluster = await joinCluster({
    store: grpcDiscoveryStore(discovery, clock),
    clock,
    log,
    token: discovery.token,
    id: idText(planCluster(config).localId),
    self: config.initialCluster,
  });
  log.write('info', 'discovery joined cluster successfully', { cluster: initialCluster });
  return { ...config, initialCluster };
};
