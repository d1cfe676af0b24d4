import { durationMs, flag, integer, list, text } from '../../base/flags.ts';

export const DNS_FLAGS = {
  kubeconfig: flag(text, '', 'kubeconfig with the API server and credentials of this component'),
  'cluster-domain': flag(text, 'cluster.local', 'domain of the cluster'),
  'bind-address': flag(text, '127.0.0.1', 'address to serve DNS on, over UDP and TCP'),
  port: flag(integer({ min: 1, max: 65_535 }), 53, 'port to serve DNS on'),
  'metrics-bind-address': flag(
    text,
    '127.0.0.1:9153',
    'address of /metrics, /health and /ready (empty: disabled)',
  ),
  forward: flag(
    list,
    [],
    'servers for all other names: addresses, or a file such as /etc/resolv.conf (empty: such names are refused)',
  ),
  ttl: flag(integer({ min: 0, max: 3600 }), 30, 'TTL of the records of the cluster, in seconds'),
  service: flag(
    text,
    'kube-system/kube-dns',
    'Service in front of this server: the name server of the domain',
  ),
  'watch-idle-timeout': flag(durationMs, 300_000, 'watches of the API end after so long without a query'),
  v: flag(integer({ min: 0, max: 10 }), 2, 'log verbosity; 4 and above logs everything'),
} as const;
