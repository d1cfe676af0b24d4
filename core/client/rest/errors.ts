import { ReasonError } from '../../base/errors.ts';

export type ClientReason =
  /** The client's leadership is over; nothing was sent. */
  | 'Fenced'
  /** The answer is no JSON, or not the JSON that was asked for. */
  | 'MalformedAnswer'
  /** An answer or a line of a watch is longer than its bound. */
  | 'AnswerTooLarge'
  | 'BadConfig'
  | 'BadCredentials';

export class ClientError extends ReasonError<ClientReason> {
  override readonly name = 'ClientError';
}

export const isFenced = (error: unknown): error is ClientError =>
  error instanceof ClientError && error.reason === 'Fenced';
