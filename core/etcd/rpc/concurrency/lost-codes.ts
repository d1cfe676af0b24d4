import { statusOf } from '../../refusals/errors.ts';
import type { Method, ServerStreamMethod, UnaryMethod } from '../grpc/method.ts';
import { StatusError } from '../grpc/status.ts';
import type { CodeName } from '../grpc/status.ts';

const KEPT: ReadonlySet<CodeName> = new Set(['Canceled', 'DeadlineExceeded']);

const lose = (error: unknown): never => {
  const { code, text } = error instanceof StatusError ? error.status : statusOf(error);
  throw KEPT.has(code) ? error : new StatusError('Unknown', text, { cause: error });
};

const unaryLosing = (method: UnaryMethod<unknown, unknown>): UnaryMethod<unknown, unknown> => ({
  ...method,
  async handle(request, context) {
    try {
      return await method.handle(request, context);
    } catch (error) {
      return lose(error);
    }
  },
});
const streamLosing = (
  method: ServerStreamMethod<unknown, unknown>,
): ServerStreamMethod<unknown, unknown> => ({
  ...method,
  handle: (request, stream) => method.handle(request, stream).catch(lose),
});

/** etcd serves these methods through a client inside of it, which keeps the text of an error and loses its code. */
export const withLostCodes = (method: Method): Method => {
  if (method.type === 'unary') return unaryLosing(method);
  return method.type === 'server_stream' ? streamLosing(method) : method;
};
