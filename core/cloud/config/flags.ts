import { boolean, durationMs, flag, integer, oneOf, text } from '../../base/flags.ts';
import { managerFlags } from '../../component/flags.ts';
import { CONTROLLER_FLAGS } from '../../controllers/config/shared-flags.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;

/** cloud-controller-manager's flags, by upstream's names and defaults; `load-balancer-range` is the loopback cloud's. */
export const CLOUD_FLAGS = {
  ...managerFlags({ port: 10_258, leaseName: 'cloud-controller-manager' }),
  'cloud-provider': flag(oneOf('loopback'), 'loopback', 'the cloud: this machine'),
  'cloud-config': flag(
    text,
    '',
    'folder of the loopback cloud, whose instances.json says what became of them',
  ),
  'load-balancer-range': flag(text, '', 'addresses for services of type LoadBalancer (empty: none are made)'),
  ...CONTROLLER_FLAGS,
  'cluster-name': flag(text, 'kubernetes', 'name of the cluster'),
  'cluster-cidr': flag(text, '', 'range of pod addresses'),
  'allocate-node-cidrs': flag(boolean, false, 'nodes have parts of --cluster-cidr, and routes to them'),
  'configure-cloud-routes': flag(boolean, true, 'make those routes in the cloud'),
  'node-status-update-frequency': flag(
    durationMs,
    5 * MINUTE_MS,
    'how often addresses of nodes are looked up',
  ),
  'node-monitor-period': flag(durationMs, 5 * SECOND_MS, 'how often instances of silent nodes are asked for'),
  'route-reconciliation-period': flag(durationMs, 10 * SECOND_MS, 'how often routes are looked at'),
  'concurrent-service-syncs': flag(integer({ min: 1, max: 1000 }), 1, 'services worked on at once'),
  'concurrent-node-syncs': flag(integer({ min: 1, max: 1000 }), 1, 'nodes worked on at once'),
} as const;
