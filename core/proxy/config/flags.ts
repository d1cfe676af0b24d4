import { flag, integer, list, oneOf, text } from '../../base/flags.ts';

/**
 * kube-proxy's own flags. Those of iptables, ipvs and conntrack are absent, so that giving them fails instead
 * of doing nothing.
 */
export const PROXY_FLAGS = {
  config: flag(text, '', 'file with a KubeProxyConfiguration; other flags are ignored then'),
  kubeconfig: flag(text, '', 'kubeconfig with the API server and credentials of this component'),
  master: flag(text, '', 'address of the API server (overrides the kubeconfig)'),
  'hostname-override': flag(
    list,
    [],
    'node name (default: host name); a list if one process serves several nodes',
  ),
  'cluster-cidr': flag(
    text,
    '',
    'range of pod addresses; other loopback endpoints that belong to no node are not served (empty: all are)',
  ),
  'external-ip-ranges': flag(
    list,
    [],
    'ranges allowed for externalIPs and load balancer addresses, besides node addresses (not upstream)',
  ),
  'local-ranges': flag(
    list,
    [],
    'ranges of Service addresses that this machine takes as its own, for pods with networks of their own (Linux, root; not upstream)',
  ),
  'network-policy-kubeconfig': flag(
    text,
    '',
    'kubeconfig that reads NetworkPolicies, by which connections of real pods to Services are judged (with --local-ranges; not upstream)',
  ),
  'nodeport-addresses': flag(
    list,
    [],
    'ranges of node addresses that serve node ports (empty: all loopback addresses)',
  ),
  'proxy-mode': flag(
    oneOf('', 'loopback', 'nftables'),
    '',
    'loopback: listeners on the addresses of Services; nftables: rules of the kernel, for real pods (Linux, root)',
  ),
  'bind-address': flag(text, '127.0.0.1', 'address for health and metrics if their flags only have a port'),
  'healthz-bind-address': flag(text, '127.0.0.1:10256', 'address of /healthz and /livez (empty: disabled)'),
  'metrics-bind-address': flag(text, '127.0.0.1:10249', 'address of /metrics (empty: disabled)'),
  'max-connections': flag(integer({ min: 1, max: 100_000 }), 8192, 'maximum concurrent connections'),
  v: flag(integer({ min: 0, max: 10 }), 2, 'log verbosity; 4 and above logs everything'),
} as const;
