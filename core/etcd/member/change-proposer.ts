import type { Proposer } from './request-entry.ts';

/** Who asked for a membership change, from the words that travelled with it. */
export const proposerOf = (context: string): Proposer | undefined => {
  if (context === '') return undefined;
  const { proposer } = JSON.parse(context) as { proposer?: Proposer };
  return proposer;
};

export const withProposer = (context: string, proposer: Proposer): string =>
  JSON.stringify({ ...(JSON.parse(context) as object), proposer });
