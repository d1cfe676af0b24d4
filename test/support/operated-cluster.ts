import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { OwnedClient } from '../../core/client/index.ts';
import { callControl } from '../../core/cluster/control/client.ts';
import type { ClusterState } from '../../core/cluster/state/cluster-state.ts';
import { unmountVolumes } from '../../core/kubelet/runtimes/cri/bind-mounts.ts';
import { adminClient, pilothouse, up, type CommandOutcome, type RunningCluster } from './cluster.ts';
import { PATIENCE } from './etcd-ctl.ts';
import { kubernetesClient, type KubernetesClient } from './kubectl.ts';
import { ownedFolder } from './leftovers.ts';
import { until } from './until.ts';

const KUBECTL_MINOR = 36;
/** Every component of five hosts starts again, beside other suites. */
const WELL_LIMIT_MS = 240_000;
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024;

/** `pilothouse up` in a folder of its own, with the commands of an operator at hand. */
export interface OperatedCluster {
  readonly data: string;
  readonly process: RunningCluster;
  /** A command on this cluster that must succeed; its output. */
  run(...args: readonly string[]): Promise<string>;
  /** A command on this cluster that must fail; its one line. */
  refused(...args: readonly string[]): Promise<string>;
  attempt(...args: readonly string[]): Promise<CommandOutcome>;
  json<T>(...args: readonly string[]): Promise<T>;
  /** As `status` tells it, without a process for each look. */
  state(): Promise<ClusterState>;
  /** Every host and component is ready. */
  untilWell(): Promise<void>;
  etcdctl(...args: readonly string[]): Promise<string>;
  client(): Promise<OwnedClient>;
  /** Undefined where no kubectl can be had. */
  kubectl(): Promise<KubernetesClient | undefined>;
  /** Ends `up` by a signal; the folder stays. */
  down(signal: NodeJS.Signals): Promise<void>;
  /** `up` and every host, by SIGKILL, before one can react to the end of another. */
  killAll(): Promise<void>;
  /** Resumes the cluster of the folder. */
  again(): Promise<void>;
  close(): Promise<void>;
}

const EtcdEndpoints = (state: ClusterState): string =>
  state.hosts
    .filter(({ components }) => components.some(({ name }) => name === 'etcd'))
    .map(({ address }) => `https://${address}:2379`)
    .join(',');

export const isWell = ({ phase, hosts }: ClusterState): boolean =>
  phase === 'ready' &&
  hosts.every((host) => host.phase === 'running' && host.components.every((one) => one.phase === 'ready'));

export const operate = async (...flags: readonly string[]): Promise<OperatedCluster> => {
  const data = ownedFolder('operate');
  let running = await up('--data', data, ...flags).catch((error: unknown) => {
    rmSync(data, { recursive: true, force: true });
    throw error;
  });
  const closing: (() => Promise<void> | void)[] = [];
  const attempt = (...args: readonly string[]): Promise<CommandOutcome> =>
    pilothouse(...args, '--data', data);
  const run = async (...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await attempt(...args);
    if (code !== 0) throw new Error(`pilothouse ${args.join(' ')} ended with ${code}: ${stdout}${stderr}`);
    return stdout;
  };
  const state = (): Promise<ClusterState> => callControl(data, 'status', {});
  return {
    data,
    get process() {
      return running;
    },
    run,
    attempt,
    state,
    async refused(...args) {
      const { code, stdout, stderr } = await attempt(...args);
      if (code === 0) throw new Error(`pilothouse ${args.join(' ')} succeeded: ${stdout}`);
      return stderr.trim().split('\n').at(-1) ?? '';
    },
    json: async <T>(...args: readonly string[]) => JSON.parse(await run(...args, '-o', 'json')) as T,
    async untilWell() {
      await until(
        'everything to be well',
        async () => isWell(await state()) && (await attempt('status')).code === 0,
        WELL_LIMIT_MS,
      );
    },
    async etcdctl(...args) {
      const pki = (file: string): string => join(data, 'pki', 'etcd', file);
      const { stdout } = await promisify(execFile)(
        '/usr/bin/etcdctl',
        [
          `--endpoints=${EtcdEndpoints(await state())}`,
          `--cacert=${pki('ca.crt')}`,
          `--cert=${pki('healthcheck-client.crt')}`,
          `--key=${pki('healthcheck-client.key')}`,
          ...PATIENCE,
          ...args,
        ],
        { env: { ETCDCTL_API: '3', PATH: '/usr/bin:/bin' }, maxBuffer: OUTPUT_BYTES_MAX },
      );
      return stdout;
    },
    async client() {
      const client = await adminClient(data);
      closing.push(() => client.dispose());
      return client;
    },
    async kubectl() {
      const config = readFileSync(join(data, 'kubeconfig', 'admin.conf'), 'utf8');
      const client = await kubernetesClient(KUBECTL_MINOR, config);
      if (client) closing.push(() => client.close());
      return client;
    },
    async down(signal) {
      await running.end(signal);
    },
    async killAll() {
      const children = readFileSync(`/proc/${running.pid}/task/${running.pid}/children`, 'utf8');
      for (const pid of children.trim().split(' ').filter(Boolean)) process.kill(Number(pid), 'SIGKILL');
      await running.end('SIGKILL');
    },
    async again() {
      running = await up('--data', data);
    },
    async close() {
      for (const close of closing.splice(0)) await close();
      await running.end('SIGTERM');
      // Real pods outlive the cluster, and their volumes in memory are mounts.
      await unmountVolumes(data);
      rmSync(data, { recursive: true, force: true });
    },
  };
};
