import { ReasonError } from '../../../base/errors.ts';

/** The bytes are not the message they were said to be. Never a crash: anyone who reads from the network answers it. */
export class MalformedError extends ReasonError<'Malformed'> {
  override readonly name = 'MalformedError';

  constructor(what: string, options?: { cause?: unknown }) {
    super('Malformed', `proto: ${what}`, options);
  }
}
