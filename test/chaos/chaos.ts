import { messageOf } from '../../core/base/errors.ts';
import type { OperatedCluster } from '../support/operated-cluster.ts';
import { until } from '../support/until.ts';
import { HostilePods } from './hostile-pods.ts';
import { Nemesis } from './nemesis.ts';
import { seeded } from './random.ts';
import { startWorkload, type WorkloadReport } from './workload.ts';

export interface ChaosReport extends WorkloadReport {
  readonly strikes: number;
}

/** A hash of everything takes longer than etcdctl's five seconds where a machine has much else to do. */
const PATIENT = '--command-timeout=60s';

interface HashOfMember {
  readonly Endpoint: string;
  readonly HashKV: { readonly hash: number; readonly compact_revision: number };
}

/** As the real etcdctl sees them, all at one revision; fails with what each member said last. */
export const untilEqualHashes = async (cluster: OperatedCluster): Promise<void> => {
  let last = 'no member was asked';
  await until('equal hashes', async () => {
    const status = JSON.parse(await cluster.etcdctl(PATIENT, 'endpoint', 'status', '-w', 'json')) as {
      Status: { header: { revision: number } };
    }[];
    const revision = Math.min(...status.map(({ Status }) => Status.header.revision));
    const hashes = JSON.parse(
      await cluster.etcdctl(PATIENT, 'endpoint', 'hashkv', `--rev=${revision}`, '-w', 'json'),
    ) as HashOfMember[];
    const said = hashes.map(
      ({ Endpoint, HashKV }) => `${Endpoint} ${HashKV.hash} since ${HashKV.compact_revision}`,
    );
    last = `${status.length} members, at revision ${revision}: ${said.join(', ')}`;
    return hashes.length === status.length && new Set(hashes.map(({ HashKV }) => HashKV.hash)).size === 1;
  }).catch((error: unknown) => {
    const { message, cause } = error as Error;
    throw new Error(`${message}: ${last}${cause === undefined ? '' : `; ${messageOf(cause)}`}`, { cause });
  });
};

/** Random faults under writers, watchers and rollouts; resolves with the observations once everything has recovered. */
export const runChaos = async (
  cluster: OperatedCluster,
  options: { readonly durationMs: number; readonly seed: number; log(line: string): void },
): Promise<ChaosReport> => {
  const client = await cluster.client();
  const workload = await startWorkload(client);
  const random = seeded(options.seed);
  const hostile = new HostilePods(client, cluster.data, random);
  const nemesis = new Nemesis(cluster.data, random, options.log, hostile);
  const endMs = Date.now() + options.durationMs;
  let strikes = 0;
  while (Date.now() < endMs && workload.violations.length + hostile.violations.length === 0) {
    await nemesis.strike();
    strikes += 1;
  }
  await nemesis.heal();
  const report = await workload.stop();
  const unequal = await untilEqualHashes(cluster).then(
    () => [],
    (error: unknown) => [messageOf(error)],
  );
  return { ...report, strikes, violations: [...report.violations, ...hostile.violations, ...unequal] };
};
