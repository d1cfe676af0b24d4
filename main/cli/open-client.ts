import { resolve } from 'node:path';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { connect, loadKubeconfig, type ClientConfig, type OwnedClient } from '../../core/client/index.ts';
import type { ClusterConfig } from '../../core/cluster/config/config.ts';
import { adminKubeconfigFile } from '../../core/cluster/data-folder/layout.ts';
import { requireCluster } from '../../core/cluster/data-folder/open.ts';
import type { CommandContext } from './command.ts';

/** Taken by every command that works on any cluster, and read here alone. */
export const CLIENT_OPTIONS = { kubeconfig: { type: 'string' }, context: { type: 'string' } } as const;

export interface OpenedClient {
  /** Of the caller, who disposes it. */
  readonly client: OwnedClient;
  readonly config: ClientConfig;
  readonly kubeconfigFile: string;
  /** The cluster of the data directory; undefined where a kubeconfig was named instead. */
  readonly cluster: ClusterConfig | undefined;
}

/** A client of the cluster in the data directory, or of what `--kubeconfig` and `--context` name. */
export const openClient = async (
  wishes: { readonly kubeconfig?: string | undefined; readonly context?: string | undefined },
  options: {
    readonly dataDirectory: string;
    readonly cwd: CommandContext['cwd'];
    readonly userAgent: string;
  },
): Promise<OpenedClient> => {
  const { dataDirectory, cwd, userAgent } = options;
  const cluster = wishes.kubeconfig === undefined ? await requireCluster(dataDirectory) : undefined;
  const kubeconfigFile =
    wishes.kubeconfig === undefined ? adminKubeconfigFile(dataDirectory) : resolve(cwd, wishes.kubeconfig);
  const named = wishes.context === undefined ? {} : { context: wishes.context };
  const config = await loadKubeconfig(kubeconfigFile, named);
  const client = connect(config, { clock: systemClock, random: systemRandom, log: silentLog, userAgent });
  return { client, config, kubeconfigFile, cluster };
};
