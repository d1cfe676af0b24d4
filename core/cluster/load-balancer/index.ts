export type { Backend, BackendState } from './backend-pool.ts';
export { createLoadBalancer } from './load-balancer.ts';
export type { LoadBalancer, LoadBalancerOptions, LoadBalancerState } from './load-balancer.ts';
export { runLoadBalancer } from './run-load-balancer.ts';
export type { LoadBalancerConfig } from './run-load-balancer.ts';
