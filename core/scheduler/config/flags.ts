import { ReasonError } from '../../base/errors.ts';
import { UNSUPPORTED_MANAGER_FLAGS } from '../../component/unsupported-flags.ts';
import {
  durationMs,
  flag,
  parseFlags,
  rejectUnsupportedFlags,
  text,
  type FlagValues,
} from '../../base/flags.ts';
import { managerFlags } from '../../component/flags.ts';
import { DEFAULT_CONFIGURATION, type SchedulerConfiguration } from './configuration.ts';
import { parseSchedulerConfiguration } from './parse-configuration.ts';

const MINUTE_MS = 60_000;

/** kube-scheduler's own flags, by name and default; what this scheduler does not have is absent. */
export const SCHEDULER_FLAGS = {
  ...managerFlags({ port: 10_259, leaseName: 'kube-scheduler' }),
  config: flag(text, '', 'file with a KubeSchedulerConfiguration'),
  'pod-max-in-unschedulable-pods-duration': flag(
    durationMs,
    5 * MINUTE_MS,
    'maximum time before an unschedulable pod is retried',
  ),
} as const;

export interface SchedulerSettings {
  readonly flags: FlagValues<typeof SCHEDULER_FLAGS>;
  readonly configuration: SchedulerConfiguration;
}

const bad = (message: string): never => {
  throw new ReasonError('BadConfiguration', message);
};

/**
 * Reads the command line. Where a file is given its election and connection count, unless the same was said by a flag.
 */
export const readSchedulerSettings = (
  args: readonly string[],
  readFile: (path: string) => string,
): SchedulerSettings => {
  rejectUnsupportedFlags(args, SCHEDULER_FLAGS, UNSUPPORTED_MANAGER_FLAGS);
  const { values, given, positional } = parseFlags(SCHEDULER_FLAGS, args);
  if (positional.length > 0) bad(`unexpected argument ${JSON.stringify(positional[0])}`);
  const configuration =
    values.config === '' ? DEFAULT_CONFIGURATION : parseSchedulerConfiguration(readFile(values.config));
  const { leaderElection, clientConnection } = configuration;
  const fromFile: Partial<FlagValues<typeof SCHEDULER_FLAGS>> =
    values.config === ''
      ? {}
      : {
          kubeconfig: clientConnection.kubeconfig,
          'kube-api-qps': clientConnection.qps,
          'kube-api-burst': clientConnection.burst,
          'leader-elect': leaderElection.leaderElect,
          'leader-elect-lease-duration': leaderElection.leaseDurationMs,
          'leader-elect-renew-deadline': leaderElection.renewDeadlineMs,
          'leader-elect-retry-period': leaderElection.retryPeriodMs,
          'leader-elect-resource-name': leaderElection.resourceName,
          'leader-elect-resource-namespace': leaderElection.resourceNamespace,
        };
  const said = Object.fromEntries(
    Object.entries(values).filter(([name, value]) => given.has(name as never) && value !== ''),
  );
  const flags = { ...values, ...fromFile, ...said };
  if (flags.kubeconfig === '') bad('--kubeconfig must be given');
  return { flags, configuration };
};
