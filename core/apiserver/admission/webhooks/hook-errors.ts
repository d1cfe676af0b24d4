import { badRequest, statusErrorFrom, StatusError, type Status } from '../../../api/meta/index.ts';
import { goQuote } from '../../../api/field/go-text.ts';

/** A webhook that could not be asked: its failure policy decides. */
export class CallingFailed extends Error {
  override readonly name = 'CallingFailed';
  /** For metrics: what the webhook answered, or what a failure of this kind counts as. */
  readonly code: number;
  readonly isCanceled: boolean;

  constructor(
    hook: string,
    reason: string,
    { code, isCanceled = false }: { readonly code: number; readonly isCanceled?: boolean },
  ) {
    super(`failed calling webhook ${goQuote(hook)}: ${reason}`);
    this.code = code;
    this.isCanceled = isCanceled;
  }
}

/** A webhook that said no. */
export class Rejected extends Error {
  override readonly name = 'Rejected';
  readonly status: StatusError;

  constructor(status: StatusError) {
    super(status.message);
    this.status = status;
  }
}

const CODE_MIN = 400;

/** The client is told what the webhook says, and which one it was. */
export const rejection = (hook: string, status: Record<string, unknown> | undefined): Rejected => {
  const { message, reason, code, details } = (status ?? {}) as Partial<Status>;
  const deniedBy = `admission webhook ${goQuote(hook)} denied the request`;
  const why = message || reason;
  const text = why ? `${deniedBy}: ${why}` : `${deniedBy} without explanation`;
  const shown = typeof code === 'number' && code >= CODE_MIN ? code : CODE_MIN;
  const error = statusErrorFrom({ message: text, ...(details && { details }) }, shown);
  return new Rejected(
    new StatusError(typeof reason === 'string' ? reason : '', text, {
      code: shown,
      ...(error.details && { details: error.details }),
    }),
  );
};

export const dryRunUnsupported = (hook: string): StatusError =>
  badRequest(`admission webhook ${goQuote(hook)} does not support dry run`);
