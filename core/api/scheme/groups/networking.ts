import { define } from '../define.ts';

export const NETWORKING_RESOURCES = [
  ...define('networking.k8s.io', 'v1', [
    { kind: 'IngressClass', plural: 'ingressclasses', cluster: true },
    { kind: 'Ingress', plural: 'ingresses', short: ['ing'], status: true, prefix: 'ingress' },
    { kind: 'IPAddress', plural: 'ipaddresses', cluster: true, short: ['ip'] },
    { kind: 'NetworkPolicy', plural: 'networkpolicies', short: ['netpol'] },
    { kind: 'ServiceCIDR', plural: 'servicecidrs', cluster: true, status: true },
  ]),
  ...define('discovery.k8s.io', 'v1', [{ kind: 'EndpointSlice', plural: 'endpointslices' }]),
];
