import type { OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';
import { Nemesis } from './nemesis.ts';
import { seeded } from './random.ts';
import { startWorkload, type WorkloadReport } from './workload.ts';

export interface ChaosReport extends WorkloadReport {
  readonly strikes: number;
}

interface HashOfMember {
  readonly HashKV: { readonly hash: number };
}

/** As the real etcdctl sees them, all at one revision. */
export const untilEqualHashes = async (cluster: OperatedCluster): Promise<void> => {
  await until('equal hashes', async () => {
    const status = JSON.parse(await cluster.etcdctl('endpoint', 'status', '-w', 'json')) as {
      Status: { header: { revision: number } };
    }[];
    const revision = Math.min(...status.map(({ Status }) => Status.header.revision));
    const hashes = JSON.parse(
      await cluster.etcdctl('endpoint', 'hashkv', `--rev=${revision}`, '-w', 'json'),
    ) as HashOfMember[];
    return hashes.length === status.length && new Set(hashes.map(({ HashKV }) => HashKV.hash)).size === 1;
  });
};

/** Random faults under writers, watchers and rollouts; resolves with what was seen once all is well again. */
export const runChaos = async (
  cluster: OperatedCluster,
  options: { readonly durationMs: number; readonly seed: number; log(line: string): void },
): Promise<ChaosReport> => {
  const client = await cluster.client();
  const workload = await startWorkload(client);
  const nemesis = new Nemesis(cluster.data, seeded(options.seed), options.log);
  const endMs = Date.now() + options.durationMs;
  let strikes = 0;
  while (Date.now() < endMs && workload.violations.length === 0) {
    await nemesis.strike();
    strikes += 1;
  }
  await nemesis.heal();
  const report = await workload.stop();
  await untilEqualHashes(cluster);
  return { ...report, strikes };
};
