import { callControl } from '../../../core/cluster/control/client.ts';
import { inEnglish } from '../../../core/contract/index.ts';
import { jsonOf } from '../json.ts';
import { requireCluster } from '../../../core/cluster/data-folder/open.ts';
import type { ClusterState, HostState } from '../../../core/cluster/state/cluster-state.ts';
import { hasReason } from '../../../core/base/errors.ts';
import { EXIT_FAILURE, EXIT_OK, parseOptions, type Command, type CommandContext } from '../command.ts';

const MIB = 1024 * 1024;

const printHost = (host: HostState, context: CommandContext): void => {
  const memory = host.rssBytes === undefined ? '' : `${Math.round(host.rssBytes / MIB)} MiB`;
  const process = host.pid === undefined ? '' : `pid ${host.pid}`;
  const line = [
    host.name.padEnd(9),
    host.phase.padEnd(9),
    host.address.padEnd(14),
    process.padEnd(12),
    memory,
  ];
  const { restarts, lastExit } = host;
  const again =
    restarts === 0
      ? ''
      : `  restarted ${restarts}x (last exit: ${lastExit ? inEnglish(lastExit.reason) : 'unknown'})`;
  const why = host.message === undefined ? '' : `  ${inEnglish(host.message)}`;
  context.print(`${line.join(' ')}${again}${why}`.trimEnd());
  for (const { name, phase, version, restarts, message } of host.components) {
    const again = restarts === 0 ? '' : `  restarted ${restarts}x`;
    const why = phase === 'ready' || message === undefined ? '' : `  ${message.split('\n')[0]}`;
    context.print(`  ${name.padEnd(25)} ${phase.padEnd(9)} ${version}${again}${why}`);
  }
};

const printState = (state: ClusterState, context: CommandContext): void => {
  context.print(`cluster ${state.phase}  ${state.kubernetesVersion}  ${state.endpoint}`);
  for (const host of state.hosts) printHost(host, context);
  const backends = state.loadBalancer?.backends ?? [];
  const healthy = backends.filter((backend) => backend.healthy).map(({ name }) => name);
  context.print(
    `load balancer  ${healthy.length} of ${backends.length} API servers: ${healthy.join(', ') || 'none'}`,
  );
};

/** Of a cluster whose members are its own: those whose member runs, and how many that should be. */
const quorumOf = ({ hosts }: ClusterState): { running: number; members: number } => {
  const members = hosts.flatMap(({ phase, components }) =>
    components
      .filter(({ name }) => name === 'etcd')
      .map((one) => phase === 'running' && one.phase === 'ready'),
  );
  return { running: members.filter(Boolean).length, members: members.length };
};

const printQuorum = (state: ClusterState, context: CommandContext): void => {
  const { running, members } = quorumOf(state);
  const needed = Math.floor(members / 2) + 1;
  if (members === 0 || running >= needed || state.phase !== 'ready') return;
  context.print(
    `etcd has no quorum: ${running} of ${members} members running, ${needed} needed; see docs/lost-quorum.md`,
  );
};

const isWell = ({ phase, hosts }: ClusterState): boolean =>
  phase === 'ready' &&
  hosts.every((host) => host.phase === 'running' && host.components.every((one) => one.phase === 'ready'));

export const status: Command = {
  usage: `  pilothouse status [--data DIR] [-o json]

  Exits with 0 if all hosts and components are running, otherwise with 1.`,
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    const config = await requireCluster(dataDirectory);
    try {
      const state = await callControl(dataDirectory, 'status', {});
      if (json) context.print(jsonOf(state));
      else {
        printState(state, context);
        printQuorum(state, context);
      }
      return isWell(state) ? EXIT_OK : EXIT_FAILURE;
    } catch (error) {
      if (!hasReason(error, 'NotRunning')) throw error;
      const { controlPlanes, workers, kubernetesVersion } = config.spec;
      if (json) context.print(JSON.stringify({ phase: 'stopped', kubernetesVersion, spec: config.spec }));
      else
        context.print(
          `cluster stopped  ${kubernetesVersion}  ${controlPlanes} control planes, ${workers} workers; start it with pilothouse up`,
        );
      return EXIT_FAILURE;
    }
  },
};
