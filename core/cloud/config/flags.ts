import { boolean, durationMs, flag, integer, oneOf, text } from '../../base/flags.ts';
import { managerFlags } from '../../component/flags.ts';
import { CONTROLLER_FLAGS } from '../../controllers/config/shared-flags.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** cloud-controller-manager's flags, by upstream's names and defaults; `load-balancer-range` is the loopback cloud's. */
export const CLOUD_FLAGS = {
  ...managerFlags({ port: 10_258, leaseName: 'cloud-controller-manager' }),
  'cloud-provider': flag(oneOf('loopback'), 'loopback', 'cloud provider: this machine'),
  'cloud-config': flag(
    text,
    '',
    'directory of the loopback cloud with the state of its instances (instances.json)',
  ),
  'load-balancer-range': flag(
    text,
    '',
    'addresses for services of type LoadBalancer (empty: none are created)',
  ),
  ...CONTROLLER_FLAGS,
  'cluster-name': flag(text, 'kubernetes', 'name of the cluster'),
  'cluster-cidr': flag(text, '', 'range of pod addresses'),
  'allocate-node-cidrs': flag(boolean, false, 'nodes have ranges of --cluster-cidr and routes to them'),
  'configure-cloud-routes': flag(boolean, true, 'create these routes in the cloud'),
  'node-status-update-frequency': flag(
    durationMs,
    5 * MINUTE_MS,
    'interval between updates of node addresses',
  ),
  'node-monitor-period': flag(
    durationMs,
    5 * SECOND_MS,
    'interval between checks of instances of not-ready nodes',
  ),
  'route-reconciliation-period': flag(durationMs, 10 * SECOND_MS, 'interval between route syncs'),
  'concurrent-service-syncs': flag(integer({ min: 1, max: 1000 }), 1, 'services synced concurrently'),
  'concurrent-node-syncs': flag(integer({ min: 1, max: 1000 }), 1, 'nodes synced concurrently'),
} as const;
