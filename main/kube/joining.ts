import { networkInterfaces } from 'node:os';
import { isConditionTrue } from '../../core/api/meta/index.ts';
import type { Clock } from '../../core/base/clock.ts';
import { CONFIG_MAP, NODE, type Client } from '../../core/client/index.ts';
import { authorityHashes } from '../../core/cluster/bootstrap-tokens/authority-hash.ts';
import { clusterOf } from '../../core/cluster/bootstrap-tokens/discovery.ts';
import { joinWords } from '../../core/cluster/bootstrap-tokens/join-words.ts';
import { createToken, TOKEN_TTL_MS } from '../../core/cluster/bootstrap-tokens/tokens.ts';
import { ContractError, say, type Handlers } from '../../core/contract/index.ts';
import type { Connections } from './connections.ts';
import { kubeFailure } from './failure.ts';

/** `cluster-info` as machines read it; undefined where the cluster has none. */
const clusterInfo = async (client: Client) => {
  const map = await client.resource(CONFIG_MAP, 'kube-public').find('cluster-info');
  const text = map?.data?.['kubeconfig'];
  return text === undefined ? undefined : clusterOf(text);
};

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all) =>
    (all ?? []).flatMap(({ family, internal, address }) => (family === 'IPv4' && !internal ? [address] : [])),
  );

/** Machines that join a cluster: what they would find, and tokens for them. */
export const createJoiningHandlers = (
  { open, openForWriting }: Pick<Connections, 'open' | 'openForWriting'>,
  clock: Clock,
): Pick<Handlers, 'nodes.joining' | 'nodes.invite'> => ({
  'nodes.joining': async ({ cluster }) => {
    try {
      const { client } = await open(cluster);
      const [info, nodes] = await Promise.all([clusterInfo(client), client.resource(NODE).list()]);
      const endpoint = info && new URL(info.server).host;
      return {
        endpoint: endpoint ?? null,
        isLoopback: endpoint?.startsWith('127.') === true,
        addresses: ownAddresses(),
        nodes: nodes.items.map(({ metadata, status }) => ({
          name: metadata.name,
          isReady: isConditionTrue(status?.conditions, 'Ready'),
          hasReported: status?.nodeInfo !== undefined,
        })),
      };
    } catch (error) {
      throw kubeFailure(error);
    }
  },
  'nodes.invite': async ({ cluster }) => {
    try {
      const { client } = await openForWriting(cluster);
      const info = await clusterInfo(client);
      const [hash] = info ? authorityHashes(info.authorityPem) : [];
      if (!info || hash === undefined) throw new ContractError('NotFound', say('failure.noClusterInfo'));
      const nowMs = clock.nowMs();
      const token = await createToken(client, { description: 'created by the console' }, nowMs);
      const words = joinWords(new URL(info.server).host, token, hash);
      return {
        command: `pilothouse ${words}`,
        kubeadmCommand: `kubeadm ${words}`,
        tokenId: token.id,
        expiresAtMs: token.expiresMs ?? nowMs + TOKEN_TTL_MS,
      };
    } catch (error) {
      throw kubeFailure(error);
    }
  },
});
