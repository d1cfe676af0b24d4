import { boolean, flag, integer, list, text } from '../../base/flags.ts';

/** The kubelet's own flags. What is absent is refused, so that nothing is given and ignored. */
export const KUBELET_FLAGS = {
  config: flag(text, '', 'file with a KubeletConfiguration; flags win over it'),
  kubeconfig: flag(text, '', 'kubeconfig of this node; written after a TLS bootstrap'),
  'bootstrap-kubeconfig': flag(
    text,
    '',
    'kubeconfig with a bootstrap token, used while --kubeconfig is missing',
  ),
  'cert-dir': flag(text, '/var/lib/kubelet/pki', 'directory of the serving certificate'),
  'root-dir': flag(text, '/var/lib/kubelet', 'directory of volumes and other files of pods'),
  'pod-logs-dir': flag(text, '', 'directory of container logs (default: /var/log/pods)'),
  'pod-manifest-path': flag(text, '', 'directory of static pod manifests'),
  'container-runtime-endpoint': flag(text, '', 'socket of the container runtime (default: containerd)'),
  'hostname-override': flag(text, '', 'node name (default: host name)'),
  'node-ip': flag(text, '', 'address of the node (default: the one that reaches the API server)'),
  'node-labels': flag(list, [], 'labels of the node when it registers, key=value'),
  'cluster-dns': flag(list, [], 'addresses of the cluster DNS'),
  'cluster-domain': flag(text, '', 'domain of the cluster'),
  'client-ca-file': flag(text, '', 'CA of clients of the kubelet API (default: that of --kubeconfig)'),
  'tls-cert-file': flag(text, '', 'serving certificate (default: a self-signed one)'),
  'tls-private-key-file': flag(text, '', 'key of --tls-cert-file'),
  'rotate-server-certificates': flag(boolean, false, 'have the serving certificate signed through the API'),
  'max-pods': flag(integer({ min: 1, max: 10_000 }), 110, 'pods that can run on this node'),
  port: flag(integer({ min: 1, max: 65_535 }), 10_250, 'port of the kubelet API'),
  v: flag(integer({ min: 0, max: 10 }), 2, 'log verbosity; 4 and above logs everything'),
} as const;
