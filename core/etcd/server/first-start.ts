import type { Disk } from '../../base/disk.ts';
import type { MemberConfig } from '../config/config.ts';
import { assertNotBootstrapped } from '../member/boot.ts';
import { decodeClusterInfo, PEER_CLUSTER_INFO } from '../member/peer-requests.ts';
import { planCluster, type Member } from '../membership/index.ts';
import type { PeerProbe } from '../peer/index.ts';
import { Wal } from '../wal/index.ts';

/** Founders start together: who does not answer by now has nothing to tell. */
const ANSWER_LIMIT_MS = 1000;

/**
 * As etcd looks before a founder's first start (its isMemberBootstrapped): where a peer knows that this member has run
 * before, its data is gone, and it must not begin again under its old name. Two such members would be a majority
 * without what was acknowledged. Nothing is written before this.
 */
export const assertFirstStart = async (
  config: MemberConfig,
  { disk, probe }: { readonly disk: Disk; readonly probe: PeerProbe },
): Promise<void> => {
  if (config.initialClusterState !== 'new' || (await Wal.exists(disk, config.walDirectory))) return;
  const { localId, members } = planCluster(config);
  const urls = members.filter(({ id }) => id !== localId).flatMap(({ peerURLs }) => peerURLs);
  const ask = async (url: string): Promise<readonly Member[]> => {
    const limit = { timeoutMs: ANSWER_LIMIT_MS };
    return decodeClusterInfo(await probe.ask(url, PEER_CLUSTER_INFO, new Uint8Array(0), limit)).members;
  };
  // A peer that does not answer has most likely not started either.
  const answers = await Promise.all(urls.map((url) => ask(url).catch(() => [])));
  for (const known of answers) assertNotBootstrapped(config, localId, known);
};
