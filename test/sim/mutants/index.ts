import { forgottenVote } from './forgotten-vote.ts';
import {
  doubledProposal,
  followerExpiry,
  lossyResume,
  sameNumbers,
  uncheckedRead,
} from './member-mutants.ts';
import type { Mutant } from './mutant.ts';
import { indexApart, lostRow, lyingSync } from './storage-mutants.ts';

/** Every known bug that the simulation must find, or it is no net. */
export const MUTANTS: readonly Mutant[] = [
  lyingSync,
  indexApart,
  lostRow,
  forgottenVote,
  uncheckedRead,
  lossyResume,
  followerExpiry,
  doubledProposal,
  sameNumbers,
];
