import { hasReason, messageOf, ReasonError } from '../base/errors.ts';
import { failureReason, type Failure, type FailureReason } from './messages.ts';
import { SaidError, verbatim, type Said } from './sentences/said.ts';

/** How a call or stream fails, on both sides of the wire. */
export class ContractError extends SaidError<FailureReason> {
  override readonly name = 'ContractError';
}

const isFailureReason = (reason: string): reason is FailureReason =>
  (failureReason.options as readonly string[]).includes(reason);

/** What may be told to the console of a thrown value. Known reasons pass; the rest is a defect of ours. */
export const toFailure = (error: unknown): Failure => {
  const said = error instanceof SaidError ? { said: error.said } : {};
  if (error instanceof ReasonError && isFailureReason(error.reason))
    return { reason: error.reason, message: error.message, ...said };
  return { reason: 'Internal', message: messageOf(error), ...said };
};

/** `tell` says a sentence in the reader's language; without it the English message stays. */
export const fromFailure = (
  { reason, message, said }: Failure,
  tell: (what: Said) => string = () => message,
): ContractError =>
  said
    ? new ContractError(reason, said, { message: tell(said) })
    : new ContractError(reason, verbatim(message));

export const isCancelled = (error: unknown): boolean => hasReason(error, 'Cancelled');
