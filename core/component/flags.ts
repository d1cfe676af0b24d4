import { boolean, durationMs, flag, integer, list, oneOf, text } from '../base/flags.ts';
import { TLS_FLAGS } from '../base/node/tls-settings.ts';
import { DEFAULT_FRONT_PROXY } from './callers.ts';
import { OPEN_PATHS } from './secure-server.ts';

const SECOND_MS = 1000;

/** Flags that upstream's managers share: scheduler, controller-manager, cloud-controller-manager. */
export const managerFlags = (defaults: { readonly port: number; readonly leaseName: string }) =>
  ({
    kubeconfig: flag(text, '', 'path of a kubeconfig with the API server and credentials of this component'),
    master: flag(text, '', 'address of the API server (overrides the kubeconfig)'),
    'bind-address': flag(text, '127.0.0.1', 'address to listen on (upstream: 0.0.0.0)'),
    'secure-port': flag(
      integer({ min: 0, max: 65_535 }),
      defaults.port,
      'port for health and metrics (0 disables it)',
    ),
    'tls-cert-file': flag(
      text,
      '',
      'TLS certificate of --secure-port (default: self-signed, generated at startup)',
    ),
    'tls-private-key-file': flag(text, '', 'private key of --tls-cert-file'),
    ...TLS_FLAGS,
    'client-ca-file': flag(text, '', 'CA of client certificates'),
    'authentication-kubeconfig': flag(text, '', 'kubeconfig to review tokens with (default --kubeconfig)'),
    'authorization-kubeconfig': flag(text, '', 'kubeconfig to review access with (default --kubeconfig)'),
    'authentication-token-webhook-cache-ttl': flag(
      durationMs,
      10 * SECOND_MS,
      'how long a token review is cached',
    ),
    'authorization-webhook-cache-authorized-ttl': flag(
      durationMs,
      10 * SECOND_MS,
      'how long allowed authorization decisions are cached',
    ),
    'authorization-webhook-cache-unauthorized-ttl': flag(
      durationMs,
      10 * SECOND_MS,
      'how long denied authorization decisions are cached',
    ),
    'authorization-always-allow-paths': flag(
      list,
      OPEN_PATHS,
      'paths that need no authorization; may end in *',
    ),
    'requestheader-client-ca-file': flag(text, '', 'CA of front proxies'),
    'requestheader-allowed-names': flag(list, [], 'common names of front proxies (empty: any)'),
    'requestheader-username-headers': flag(
      list,
      DEFAULT_FRONT_PROXY.usernameHeaders,
      'headers with the user name',
    ),
    'requestheader-uid-headers': flag(list, DEFAULT_FRONT_PROXY.uidHeaders, 'headers with the UID'),
    'requestheader-group-headers': flag(list, DEFAULT_FRONT_PROXY.groupHeaders, 'headers with the groups'),
    'requestheader-extra-headers-prefix': flag(
      list,
      DEFAULT_FRONT_PROXY.extraHeaderPrefixes,
      'prefixes of headers with extra attributes',
    ),
    'leader-elect': flag(boolean, true, 'act only while holding the lease'),
    'leader-elect-lease-duration': flag(
      durationMs,
      15 * SECOND_MS,
      'how long candidates wait before they take over an expired lease',
    ),
    'leader-elect-renew-deadline': flag(
      durationMs,
      10 * SECOND_MS,
      'how long a leader retries to renew its lease before it gives up',
    ),
    'leader-elect-retry-period': flag(durationMs, 2 * SECOND_MS, 'interval between renewal attempts'),
    'leader-elect-resource-lock': flag(oneOf('leases'), 'leases', 'type of the lock object'),
    'leader-elect-resource-name': flag(text, defaults.leaseName, 'name of the lease'),
    'leader-elect-resource-namespace': flag(text, 'kube-system', 'namespace of the lease'),
    'kube-api-qps': flag(integer({ min: 0 }), 0, 'requests per second (0: no limit; upstream: 20 or 50)'),
    'kube-api-burst': flag(integer({ min: 0 }), 0, 'burst above --kube-api-qps'),
    profiling: flag(oneOf('false'), 'false', 'profiling is not supported (upstream: true)'),
    v: flag(integer({ min: 0, max: 10 }), 2, 'log verbosity; 4 and above logs everything'),
  }) as const;
