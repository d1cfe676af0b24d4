import { ReasonError } from '../../base/errors.ts';

export class StreamingError extends ReasonError<'NotFound' | 'BadRequest' | 'Internal'> {
  override readonly name = 'StreamingError';

  get code(): number {
    return { NotFound: 404, BadRequest: 400, Internal: 500 }[this.reason];
  }
}
