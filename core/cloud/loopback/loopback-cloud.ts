import { parseIpv4Range } from '../../base/bind-rules.ts';
import type { ControllerContext } from '../../controllers/runtime/controller.ts';
import type { CloudSettings } from '../config/config.ts';
import type { CloudProvider } from '../provider/provider.ts';
import { parseRange } from '../address-range.ts';
import { loopbackInstances, PROVIDER_NAME } from './instances.ts';
import { LoopbackLoadBalancers } from './load-balancers.ts';
import { loopbackRoutes } from './routes.ts';

/** The cloud that is this machine: its hosts are instances, its loopback addresses are for load balancers. */
export const loopbackCloud = (context: ControllerContext, settings: CloudSettings): CloudProvider => {
  const { informers, clock, random, log } = context;
  const range = parseRange(settings['load-balancer-range']);
  const pods = parseIpv4Range(settings['cluster-cidr']);
  const podRanges = pods ? [pods] : [];
  return {
    name: PROVIDER_NAME,
    instances: loopbackInstances(settings['cloud-config']),
    routes: loopbackRoutes(),
    ...(range && {
      loadBalancers: new LoopbackLoadBalancers({ range, podRanges, informers, clock, random, log }),
    }),
  };
};
