export { createLoadBalancer } from './load-balancer.ts';
export type {
  Backend,
  BackendState,
  LoadBalancer,
  LoadBalancerOptions,
  LoadBalancerState,
} from './load-balancer.ts';
export { runLoadBalancer } from './run-load-balancer.ts';
export type { LoadBalancerConfig } from './run-load-balancer.ts';
