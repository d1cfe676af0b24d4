import { operate } from '../support/operated-cluster.ts';
import { runChaos } from './chaos.ts';

const MINUTE_MS = 60_000;

const numberAfter = (args: readonly string[], flag: string, otherwise: number): number => {
  const at = args.indexOf(flag);
  const value = at < 0 ? otherwise : Number(args[at + 1]);
  if (!Number.isFinite(value) || value <= 0) throw new Error(`${flag} wants a number`);
  return value;
};

/** `--minutes N [--seed S]`. Faults follow from the seed; what they meet does not, since the cluster is real. */
export const run = async (args: readonly string[]): Promise<number> => {
  const durationMs = numberAfter(args, '--minutes', 2) * MINUTE_MS;
  const seed = numberAfter(args, '--seed', Date.now() % 1_000_000);
  const startedMs = Date.now();
  const log = (line: string): void =>
    console.log(`${((Date.now() - startedMs) / 1000).toFixed(1).padStart(7)} s  ${line}`);
  log(`seed ${seed}`);
  const cluster = await operate('--workers', '2');
  let isWell = false;
  try {
    const report = await runChaos(cluster, { durationMs, seed, log });
    for (const violation of report.violations) log(`VIOLATION ${violation}`);
    const { strikes, acknowledged, failed, rollouts, relists } = report;
    log(
      `${strikes} faults, ${acknowledged} writes acknowledged, ${failed} failed, ${rollouts} rollouts, ${relists} lists after a watch`,
    );
    isWell = report.violations.length === 0;
    return isWell ? 0 : 1;
  } finally {
    if (isWell) await cluster.close();
    else {
      await cluster.down('SIGTERM');
      log(`what it left is in ${cluster.data}`);
    }
  }
};
