import { flag, integer, list, oneOf, text } from '../../base/flags.ts';

/**
 * kube-proxy's own flags. Those of iptables, ipvs, nftables and conntrack are absent, so that giving them fails instead
 * of doing nothing.
 */
export const PROXY_FLAGS = {
  config: flag(text, '', 'file with a KubeProxyConfiguration; the flags beside it are not read'),
  kubeconfig: flag(text, '', 'kubeconfig of the cluster and of this component'),
  master: flag(text, '', 'address of the API server (overrides the kubeconfig)'),
  'hostname-override': flag(
    list,
    [],
    'name of the node (default: of this machine); several, where one process stands for several nodes',
  ),
  'cluster-cidr': flag(
    text,
    '',
    'range of pod addresses: loopback endpoints outside it and of no node are not served (empty: all are)',
  ),
  'external-ip-ranges': flag(
    list,
    [],
    'ranges that externalIPs and load balancer addresses may be in, beside the nodes of this proxy (not upstream)',
  ),
  'nodeport-addresses': flag(
    list,
    [],
    'ranges of node addresses on which node ports are served (empty: every loopback one)',
  ),
  'proxy-mode': flag(oneOf('', 'loopback'), '', 'loopback: real listeners on loopback addresses'),
  'bind-address': flag(text, '127.0.0.1', 'where health and metrics are when their flags give a port only'),
  'healthz-bind-address': flag(text, '127.0.0.1:10256', 'where /healthz and /livez answer (empty: nowhere)'),
  'metrics-bind-address': flag(text, '127.0.0.1:10249', 'where /metrics answers (empty: nowhere)'),
  'max-connections': flag(integer({ min: 1, max: 100_000 }), 8192, 'connections that are forwarded at once'),
  v: flag(integer({ min: 0, max: 10 }), 2, 'how much to log: 4 and more is everything'),
} as const;
