import { ReasonError } from '../../core/base/errors.ts';
import { ContractError, saidOf, type FailureReason } from '../../core/contract/index.ts';

const REASONS: Readonly<Record<string, FailureReason>> = {
  Locked: 'Conflict',
  AlreadyRunning: 'Conflict',
  AlreadyExists: 'Conflict',
  NotRunning: 'Conflict',
  NotReady: 'Conflict',
  BadDirectory: 'BadRequest',
  BadConfiguration: 'BadRequest',
  BadVersion: 'BadRequest',
  Contradiction: 'BadRequest',
  Damaged: 'BadRequest',
  NoCluster: 'NotFound',
};

const CONTRACT: readonly string[] = [
  'BadRequest',
  'Forbidden',
  'NotFound',
  'Conflict',
  'Cancelled',
  'Unavailable',
];

/** What the console is told of a failure of a cluster of ours. What was not expected passes, as the defect it is. */
export const clusterFailure = (error: unknown): unknown => {
  if (!(error instanceof ReasonError) || CONTRACT.includes(error.reason)) return error;
  return new ContractError(REASONS[error.reason] ?? 'Unavailable', saidOf(error), { cause: error });
};

export const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    throw clusterFailure(error);
  }
};
