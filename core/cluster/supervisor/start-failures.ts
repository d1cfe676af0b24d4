import { say, together, verbatim, type Said } from '../../contract/index.ts';
import type { HostState } from '../state/cluster-state.ts';

/** What of a cluster does not start, in one line. */
export interface StartFailure {
  readonly host: string;
  /** Undefined: all of the host. */
  readonly component: string | undefined;
  readonly message: Said;
}

export interface StartLook {
  readonly hosts: readonly HostState[];
  /** Hosts that have a member of etcd, and hosts that have an API server. */
  readonly members: readonly string[];
  readonly apiServers: readonly string[];
  /** Manifests that cannot be read, so that nothing is started from them. */
  readonly broken: readonly StartFailure[];
}

/** A member needs no one to open its own files: what stops it twice stops it always. */
const MEMBER_RESTARTS_MAX = 1;
/** The others ask for what may be late. */
const RESTARTS_MAX = 3;

const CRASH_SIGNALS: readonly string[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT'];

const firstLine = (text: string): Said => verbatim(text.split('\n')[0] ?? text);

const hostFailure = ({ name, phase, message, exitSignal }: HostState): readonly StartFailure[] => {
  // All are launched before they are checked: one that is stopped has ended, however orderly.
  if (phase !== 'failed' && phase !== 'killed' && phase !== 'stopped') return [];
  // Not asked for: no one kills a host that is only about to start. A map of a damaged file ends a process like that.
  const isCrash = CRASH_SIGNALS.includes(exitSignal ?? '');
  return [
    {
      host: name,
      component: undefined,
      message: together([
        say('failure.start.host', { host: name, phase, why: message ?? say('failure.start.exited') }),
        ...(isCrash ? [say('failure.start.damaged', { host: name })] : []),
      ]),
    },
  ];
};

const hasStorage = ({ hosts, members }: StartLook): boolean =>
  members.length === 0 ||
  hosts.some(({ components }) => components.some(({ name, phase }) => name === 'etcd' && phase === 'ready'));

/** What will not start by being waited for. */
export const startFailures = (look: StartLook): readonly StartFailure[] => [
  ...look.broken,
  ...look.hosts.flatMap((host): readonly StartFailure[] => {
    const whole = hostFailure(host);
    if (whole.length > 0) return whole;
    return host.components.flatMap(({ name, phase, restarts, message, isRejected }) => {
      // Without etcd nothing else can start, and that is no fault of theirs.
      if (name !== 'etcd' && !hasStorage(look)) return [];
      const restartsMax = name === 'etcd' ? MEMBER_RESTARTS_MAX : RESTARTS_MAX;
      if (phase !== 'exited' || message === undefined) return [];
      if (restarts < restartsMax && !isRejected) return [];
      return [
        {
          host: host.name,
          component: name,
          message: say('failure.start.component', {
            component: name,
            host: host.name,
            why: firstLine(message),
          }),
        },
      ];
    });
  }),
];

const without = (
  hosts: readonly string[],
  component: string,
  failures: readonly StartFailure[],
): readonly StartFailure[] =>
  hosts.flatMap(
    (name) =>
      failures.find(
        (failure) =>
          failure.host === name && (failure.component === undefined || failure.component === component),
      ) ?? [],
  );

/** Why there can be no cluster at all; undefined where the rest of it can serve. */
export const fatalFailure = (look: StartLook, failures: readonly StartFailure[]): Said | undefined => {
  const members = without(look.members, 'etcd', failures);
  if (members.length > 0 && look.members.length - members.length <= look.members.length / 2)
    return members[0]!.message;
  const apiServers = without(look.apiServers, 'kube-apiserver', failures);
  return apiServers.length === look.apiServers.length ? apiServers[0]?.message : undefined;
};
