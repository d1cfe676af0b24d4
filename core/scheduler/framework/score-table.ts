/** The scores of the feasible nodes. Columns follow `slots`. */
export interface ScoreTable {
  readonly slots: Int32Array;
  readonly plugins: readonly {
    readonly name: string;
    readonly weight: number;
    /** Equal to `normalised` where the plugin does not normalise, or no one asked for an explanation. */
    readonly raw: Float64Array;
    readonly normalised: Float64Array;
  }[];
  readonly total: Float64Array;
}

/** 0..max of the raw scores to 0..100, or the other way round. Integer arithmetic, as upstream's. */
export const normalizeByMax = (scores: Float64Array, options: { readonly reverse: boolean }): void => {
  let max = 0;
  for (const score of scores) if (score > max) max = score;
  for (let at = 0; at < scores.length; at += 1) {
    const share = max === 0 ? 0 : Math.trunc((100 * scores[at]!) / max);
    scores[at] = max === 0 ? (options.reverse ? 100 : 0) : options.reverse ? 100 - share : share;
  }
};
