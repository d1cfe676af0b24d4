import {
  boolean,
  durationMs,
  flag,
  integer,
  list,
  parseFlags,
  text,
  type FlagFailure,
} from '../../base/flags.ts';
import { ReasonError } from '../../base/errors.ts';
import { DEFAULT_CONFIGURATION, type SchedulerConfiguration } from './configuration.ts';
import { parseSchedulerConfiguration } from './parse-configuration.ts';

const { leaderElection, clientConnection } = DEFAULT_CONFIGURATION;

/** Upstream's flags of kube-scheduler, with its names and defaults. */
export const SCHEDULER_FLAGS = {
  config: flag(text, '', 'The path to the configuration file.'),
  kubeconfig: flag(text, '', 'Path to kubeconfig file with authorization and master location information.'),
  master: flag(text, '', 'The address of the Kubernetes API server (overrides any value in kubeconfig)'),
  'authentication-kubeconfig': flag(text, '', 'kubeconfig file with rights to create tokenreviews.'),
  'authorization-kubeconfig': flag(text, '', 'kubeconfig file with rights to create subjectaccessreviews.'),
  'authentication-skip-lookup': flag(
    boolean,
    false,
    'Do not look up missing authentication configuration in the cluster.',
  ),
  'authentication-tolerate-lookup-failure': flag(
    boolean,
    true,
    'Treat failures to look up authentication configuration as anonymous requests.',
  ),
  'authorization-always-allow-paths': flag(
    list,
    ['/healthz', '/readyz', '/livez'],
    'Paths that need no authorization.',
  ),
  'client-ca-file': flag(text, '', 'Authorities of client certificates.'),
  'requestheader-client-ca-file': flag(text, '', 'Authorities of front proxies.'),
  'bind-address': flag(text, '0.0.0.0', 'The IP address on which to listen for the --secure-port port.'),
  'secure-port': flag(
    integer({ min: 0, max: 65_535 }),
    10_259,
    'The port on which to serve HTTPS with authentication and authorization.',
  ),
  'cert-dir': flag(text, '', 'The directory where the TLS certs are located.'),
  'tls-cert-file': flag(text, '', 'File containing the x509 Certificate for HTTPS.'),
  'tls-private-key-file': flag(text, '', 'File containing the private key matching --tls-cert-file.'),
  'tls-min-version': flag(text, '', 'Minimum TLS version supported.'),
  'tls-cipher-suites': flag(list, [], 'Cipher suites for the server.'),
  profiling: flag(boolean, true, 'Enable profiling via web interface.'),
  'contention-profiling': flag(boolean, true, 'Enable block profiling.'),
  'kube-api-qps': flag(
    integer({ min: 0 }),
    clientConnection.qps,
    'QPS to use while talking with kubernetes apiserver.',
  ),
  'kube-api-burst': flag(
    integer({ min: 0 }),
    clientConnection.burst,
    'Burst to use while talking with kubernetes apiserver.',
  ),
  'leader-elect': flag(
    boolean,
    leaderElection.leaderElect,
    'Start a leader election client and gain leadership before executing the main loop.',
  ),
  'leader-elect-lease-duration': flag(
    durationMs,
    leaderElection.leaseDurationMs,
    'How long non-leader candidates wait after observing a renewal.',
  ),
  'leader-elect-renew-deadline': flag(
    durationMs,
    leaderElection.renewDeadlineMs,
    'How long the leader tries to renew before it stops leading.',
  ),
  'leader-elect-retry-period': flag(
    durationMs,
    leaderElection.retryPeriodMs,
    'The wait between tries of acquisition and renewal.',
  ),
  'leader-elect-resource-lock': flag(text, 'leases', 'The type of resource object used for locking.'),
  'leader-elect-resource-name': flag(
    text,
    leaderElection.resourceName,
    'The name of the resource object used for locking.',
  ),
  'leader-elect-resource-namespace': flag(
    text,
    leaderElection.resourceNamespace,
    'The namespace of the resource object used for locking.',
  ),
  'pod-max-in-unschedulable-pods-duration': flag(
    durationMs,
    5 * 60_000,
    'The maximum time a pod can stay in unschedulablePods.',
  ),
  'feature-gates': flag(list, [], 'key=value pairs that describe feature gates.', (before, next) => [
    ...before,
    ...next,
  ]),
  'emulated-version': flag(
    list,
    [],
    'The versions different components emulate their capabilities of.',
    (before, next) => [...before, ...next],
  ),
  v: flag(integer({ min: 0 }), 0, 'Number for the log level verbosity.'),
} as const;

export interface SchedulerSettings {
  readonly configuration: SchedulerConfiguration;
  readonly flags: ReturnType<typeof parseFlags<typeof SCHEDULER_FLAGS>>['values'];
}

/**
 * Reads the command line. Where a file is given it wins over the flags that say the same, as upstream has it;
 * `--leader-elect*` and the kubeconfig are taken from the flags when they were given.
 */
export const parseSchedulerFlags = (
  args: readonly string[],
  readFile: (path: string) => string,
): SchedulerSettings => {
  const { values: flags, given, positional } = parseFlags(SCHEDULER_FLAGS, args);
  const [extra] = positional;
  if (extra !== undefined) throw new ReasonError<FlagFailure>('UnknownFlag', `unexpected argument: ${extra}`);
  const base =
    flags.config === '' ? DEFAULT_CONFIGURATION : parseSchedulerConfiguration(readFile(flags.config));
  const choose = <T>(name: keyof typeof SCHEDULER_FLAGS, value: T, fromFile: T): T =>
    given.has(name) ? value : fromFile;
  const election = base.leaderElection;
  return {
    flags,
    configuration: {
      ...base,
      leaderElection: {
        leaderElect: choose('leader-elect', flags['leader-elect'], election.leaderElect),
        leaseDurationMs: choose(
          'leader-elect-lease-duration',
          flags['leader-elect-lease-duration'],
          election.leaseDurationMs,
        ),
        renewDeadlineMs: choose(
          'leader-elect-renew-deadline',
          flags['leader-elect-renew-deadline'],
          election.renewDeadlineMs,
        ),
        retryPeriodMs: choose(
          'leader-elect-retry-period',
          flags['leader-elect-retry-period'],
          election.retryPeriodMs,
        ),
        resourceName: choose(
          'leader-elect-resource-name',
          flags['leader-elect-resource-name'],
          election.resourceName,
        ),
        resourceNamespace: choose(
          'leader-elect-resource-namespace',
          flags['leader-elect-resource-namespace'],
          election.resourceNamespace,
        ),
      },
      clientConnection: {
        kubeconfig: base.clientConnection.kubeconfig || flags.kubeconfig,
        qps: choose('kube-api-qps', flags['kube-api-qps'], base.clientConnection.qps),
        burst: choose('kube-api-burst', flags['kube-api-burst'], base.clientConnection.burst),
      },
    },
  };
};
