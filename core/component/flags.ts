import { boolean, durationMs, flag, integer, oneOf, text } from '../base/flags.ts';

const SECOND_MS = 1000;

/** Flags that upstream's managers share: scheduler, controller-manager, cloud-controller-manager. */
export const managerFlags = (defaults: { readonly port: number; readonly leaseName: string }) =>
  ({
    kubeconfig: flag(text, '', 'kubeconfig of the cluster and of this component'),
    master: flag(text, '', 'address of the API server (overrides the kubeconfig)'),
    'bind-address': flag(text, '127.0.0.1', 'address to listen on (upstream: 0.0.0.0)'),
    'secure-port': flag(
      integer({ min: 0, max: 65_535 }),
      defaults.port,
      'port of health and metrics (0: none)',
    ),
    'tls-cert-file': flag(text, '', 'certificate of that port (default: made at the start)'),
    'tls-private-key-file': flag(text, '', 'its key'),
    'client-ca-file': flag(text, '', 'authority of client certificates'),
    'authentication-kubeconfig': flag(text, '', 'kubeconfig to review tokens with (default --kubeconfig)'),
    'authorization-kubeconfig': flag(text, '', 'kubeconfig to review access with (default --kubeconfig)'),
    'requestheader-client-ca-file': flag(text, '', 'authority of front proxies (accepted, not used)'),
    'leader-elect': flag(boolean, true, 'act only while holding the lease'),
    'leader-elect-lease-duration': flag(
      durationMs,
      15 * SECOND_MS,
      'how long others wait for a silent leader',
    ),
    'leader-elect-renew-deadline': flag(durationMs, 10 * SECOND_MS, 'how long a leader tries to renew'),
    'leader-elect-retry-period': flag(durationMs, 2 * SECOND_MS, 'pause between two tries'),
    'leader-elect-resource-lock': flag(oneOf('leases'), 'leases', 'kind of the lock'),
    'leader-elect-resource-name': flag(text, defaults.leaseName, 'name of the lease'),
    'leader-elect-resource-namespace': flag(text, 'kube-system', 'namespace of the lease'),
    'kube-api-qps': flag(integer({ min: 0 }), 0, 'requests a second (0: no limit; upstream: 20 or 50)'),
    'kube-api-burst': flag(integer({ min: 0 }), 0, 'requests above that in a burst'),
    profiling: flag(oneOf('false'), 'false', 'there is no profiling endpoint (upstream: true)'),
    v: flag(integer({ min: 0, max: 10 }), 2, 'how much to log: 4 and more is everything'),
  }) as const;
