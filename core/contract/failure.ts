import { hasReason, messageOf, ReasonError } from '../base/errors.ts';
import { failureReason, type Failure, type FailureReason } from './messages.ts';

/** How a call or stream fails, on both sides of the wire. */
export class ContractError extends ReasonError<FailureReason> {
  override readonly name = 'ContractError';
}

const isFailureReason = (reason: string): reason is FailureReason =>
  (failureReason.options as readonly string[]).includes(reason);

/** What may be told to the console of a thrown value. Known reasons pass; the rest is a defect of ours. */
export const toFailure = (error: unknown): Failure => {
  if (error instanceof ReasonError && isFailureReason(error.reason))
    return { reason: error.reason, message: error.message };
  return { reason: 'Internal', message: messageOf(error) };
};

export const fromFailure = (failure: Failure): ContractError =>
  new ContractError(failure.reason, failure.message);

export const isCancelled = (error: unknown): boolean => hasReason(error, 'Cancelled');
