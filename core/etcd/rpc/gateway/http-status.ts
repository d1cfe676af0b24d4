import { CODE, type CodeName, type Status } from '../grpc/status.ts';

/** As grpc-gateway translates gRPC's codes. */
export const HTTP_STATUS: Readonly<Record<CodeName, number>> = {
  OK: 200,
  Canceled: 499,
  Unknown: 500,
  InvalidArgument: 400,
  DeadlineExceeded: 504,
  NotFound: 404,
  AlreadyExists: 409,
  PermissionDenied: 403,
  ResourceExhausted: 429,
  FailedPrecondition: 400,
  Aborted: 409,
  OutOfRange: 400,
  Unimplemented: 501,
  Internal: 500,
  Unavailable: 503,
  DataLoss: 500,
  Unauthenticated: 401,
};

/** google.rpc.Status in JSON. */
export const statusBody = ({ code, text }: Status): string =>
  text === '' ? `{"code":${CODE[code]}}` : `{"code":${CODE[code]},"message":${JSON.stringify(text)}}`;
