import { runSeed } from './run-seed.ts';

const PROGRESS_EVERY = 100;

export interface SimArguments {
  readonly seeds: number;
  readonly from: number;
  /** Prints everything that happened in each seed, not only the end of one that failed. */
  readonly isTraced: boolean;
  /** Ends with the first seed that fails. */
  readonly stopsAtFailure: boolean;
}

export const parseSimArguments = (args: readonly string[]): SimArguments => {
  const numberAfter = (flag: string, otherwise: number): number => {
    const at = args.indexOf(flag);
    const value = at < 0 ? otherwise : Number(args[at + 1]);
    if (!Number.isSafeInteger(value) || value < 0) throw new Error(`${flag} wants a number`);
    return value;
  };
  return {
    seeds: numberAfter('--seeds', 1),
    from: numberAfter('--from', 1),
    isTraced: args.includes('--trace'),
    stopsAtFailure: args.includes('--stop'),
  };
};

/** Runs seeds one after the other, continues after a failure, and returns the exit code. */
export const run = async (args: readonly string[]): Promise<number> => {
  const { seeds, from, isTraced, stopsAtFailure } = parseSimArguments(args);
  const failed: number[] = [];
  const startedAt = performance.now();
  for (let seed = from; seed < from + seeds; seed += 1) {
    const report = await runSeed({ seed, isTraceEndless: isTraced });
    if (isTraced || report.violation !== undefined) console.log(report.trace);
    if (report.violation !== undefined) {
      failed.push(seed);
      console.log(`seed ${seed} failed: ${report.violation.message}\n`);
    }
    if (stopsAtFailure && failed.length > 0) break;
    if (isTraced) console.log(`seed ${seed}`, report.counts);
    // Lets the process be interrupted, and what is left over be collected.
    await new Promise((resolve) => setImmediate(resolve));
    const count = seed - from + 1;
    if (count % PROGRESS_EVERY === 0 || count === seeds) {
      const perSeedMs = Math.round((performance.now() - startedAt) / count);
      console.log(`${count} of ${seeds} seeds, ${failed.length} failed, ${perSeedMs} ms a seed`);
    }
  }
  if (failed.length > 0) console.log(`failed: ${failed.join(' ')}`);
  return failed.length > 0 ? 1 : 0;
};
