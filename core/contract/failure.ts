import { hasReason, messageOf, ReasonError } from '../base/errors.ts';
import { failureReason, type Failure, type FailureReason } from './messages.ts';
import { inEnglish, type Said } from './sentences/said.ts';

/** How a call or stream fails, on both sides of the wire. */
export class ContractError extends ReasonError<FailureReason> {
  override readonly name = 'ContractError';
  readonly said: Said | undefined;

  constructor(reason: FailureReason, message: string, options?: { cause?: unknown; said?: Said }) {
    super(reason, message, options);
    this.said = options?.said;
  }

  /** A failure that the console tells in the reader's language. */
  static saying(reason: FailureReason, what: Said, options?: { cause?: unknown }): ContractError {
    return new ContractError(reason, inEnglish(what), { ...options, said: what });
  }
}

const isFailureReason = (reason: string): reason is FailureReason =>
  (failureReason.options as readonly string[]).includes(reason);

/** What may be told to the console of a thrown value. Known reasons pass; the rest is a defect of ours. */
export const toFailure = (error: unknown): Failure => {
  if (error instanceof ReasonError && isFailureReason(error.reason))
    return {
      reason: error.reason,
      message: error.message,
      ...(error instanceof ContractError && error.said && { said: error.said }),
    };
  return { reason: 'Internal', message: messageOf(error) };
};

/** `tell` says a sentence in the reader's language; without it the English message stays. */
export const fromFailure = (
  { reason, message, said }: Failure,
  tell: (what: Said) => string = () => message,
): ContractError => new ContractError(reason, said ? tell(said) : message, said && { said });

export const isCancelled = (error: unknown): boolean => hasReason(error, 'Cancelled');
