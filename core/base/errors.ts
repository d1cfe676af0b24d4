/**
 * An expected failure. `reason` comes from a closed set that callers switch on; `message` is for people
 * and says what happened, to which object, and what to do next. No one matches on the text.
 */
export class ReasonError<Reason extends string = string> extends Error {
  override readonly name: string = 'ReasonError';
  readonly reason: Reason;

  constructor(reason: Reason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

export const hasReason = <Reason extends string>(
  error: unknown,
  reason: Reason,
): error is ReasonError<Reason> => error instanceof ReasonError && error.reason === reason;

/** The one line of an unknown thrown value that a person may read. */
export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
