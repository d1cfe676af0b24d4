import type { Clock } from '../../base/clock.ts';
import type { ClusterConfig } from '../config/config.ts';
import type { ClusterState } from '../supervisor/state.ts';
import { fine, problem, warning, type Finding } from './finding.ts';

const DAY_MS = 86_400_000;

export interface ReadinessFacts {
  readonly config: ClusterConfig;
  /** Undefined while the cluster does not run. */
  readonly state: ClusterState | undefined;
  /** When the newest snapshot in `backups/` was made. */
  readonly lastSnapshotMs: number | undefined;
  /** The soonest end of a certificate. */
  readonly certificatesEndMs: number;
  /** The command lines of the static pods of API servers. */
  readonly apiServerFlags: readonly (readonly string[])[];
}

const members = ({ spec }: ClusterConfig): Finding => {
  if (spec.externalEtcd) return fine('etcd members', 'etcd is run elsewhere');
  const count = spec.topology === 'stacked' ? spec.controlPlanes : spec.etcdMembers;
  if (count < 3)
    return problem('etcd members', `${count} member: losing it loses the cluster`, 'run three or five');
  return count % 2 === 0
    ? warning('etcd members', `${count} members tolerate no more than ${count - 1}`, 'run an odd number')
    : fine('etcd members', `${count} members tolerate the loss of ${(count - 1) / 2}`);
};

const controlPlanes = ({ spec }: ClusterConfig): Finding =>
  spec.controlPlanes >= 2
    ? fine('API servers', `${spec.controlPlanes} API servers behind a load balancer`)
    : problem('API servers', 'one API server: its restart is an outage', 'run three control planes');

const running = (state: ClusterState | undefined): Finding => {
  if (!state) return problem('running', 'the cluster does not run', 'pilothouse up');
  const down = state.hosts.flatMap(({ name, phase, components }) => [
    ...(phase === 'running' ? [] : [`host ${name} is ${phase}`]),
    ...components
      .filter((one) => one.phase !== 'ready')
      .map((one) => `${one.name} on ${name} is ${one.phase}`),
  ]);
  return down.length === 0
    ? fine('running', 'every host and component runs')
    : problem('running', down.join(', '), 'pilothouse status');
};

const snapshots = (lastMs: number | undefined, nowMs: number): Finding => {
  if (lastMs === undefined)
    return problem(
      'backup',
      'there is no snapshot in backups/',
      'pilothouse snapshot save, every day, kept elsewhere',
    );
  const days = Math.floor((nowMs - lastMs) / DAY_MS);
  return days < 1
    ? fine('backup', 'the last snapshot is less than a day old')
    : warning('backup', `the last snapshot is ${days} days old`, 'pilothouse snapshot save, every day');
};

const certificates = (endMs: number, nowMs: number): Finding => {
  const days = Math.floor((endMs - nowMs) / DAY_MS);
  return days >= 30
    ? fine('certificates', `the first certificate ends in ${days} days`)
    : problem('certificates', `the first certificate ends in ${days} days`, 'pilothouse certs renew all');
};

const flagOn = (flags: readonly (readonly string[])[], name: string): boolean =>
  flags.length > 0 && flags.every((words) => words.some((word) => word.startsWith(`--${name}=`)));

/** What a production control plane has, one finding each. */
export const assessReadiness = (facts: ReadinessFacts, clock: Clock): readonly Finding[] => {
  const nowMs = clock.nowMs();
  const { apiServerFlags: flags } = facts;
  return [
    running(facts.state),
    members(facts.config),
    controlPlanes(facts.config),
    snapshots(facts.lastSnapshotMs, nowMs),
    certificates(facts.certificatesEndMs, nowMs),
    flagOn(flags, 'encryption-provider-config')
      ? fine('encryption at rest', 'secrets are encrypted in etcd')
      : warning(
          'encryption at rest',
          'secrets are in etcd as they are',
          'give API servers --encryption-provider-config',
        ),
    flagOn(flags, 'audit-policy-file')
      ? fine('audit', 'requests are recorded')
      : warning(
          'audit',
          'nobody records who did what',
          'give API servers --audit-policy-file and --audit-log-path',
        ),
  ];
};
