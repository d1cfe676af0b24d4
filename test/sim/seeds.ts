import { runSeed } from './run-seed.ts';

/** Runs a span of seeds; the first that fails is thrown with its number and the end of its trace. */
export const runSeeds = async (span: { readonly from: number; readonly count: number }): Promise<number> => {
  let revisions = 0;
  for (let seed = span.from; seed < span.from + span.count; seed += 1) {
    const { violation, trace, counts } = await runSeed({ seed });
    if (violation !== undefined)
      throw new Error(
        `seed ${seed}: ${violation.message}\nreplay: npm run sim -- --from ${seed} --trace\n\n${trace}`,
        { cause: violation },
      );
    revisions += counts.revisions;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return revisions;
};
