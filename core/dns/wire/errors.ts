import { ReasonError } from '../../base/errors.ts';

/** `Malformed`: bytes that are no DNS message. `Invalid`: a message that has no bytes, such as one with too long a name. */
export type WireReason = 'Malformed' | 'Invalid';

export class WireError extends ReasonError<WireReason> {
  override readonly name = 'WireError';
}

export const isWireError = (error: unknown): error is WireError => error instanceof WireError;

export const malformed = (what: string): WireError => new WireError('Malformed', what);
export const unencodable = (what: string): WireError => new WireError('Invalid', what);
