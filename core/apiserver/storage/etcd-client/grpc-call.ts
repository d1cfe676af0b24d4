import type { MessageType } from '../../../etcd/proto/wire/field.ts';
import {
  framed,
  MESSAGE_HEAD_BYTES,
  openGrpcCall,
  type GrpcEnd,
  type GrpcTarget,
} from '../../../base/node/grpc/call.ts';
import type { ClientStream } from '../../../base/node/http2/client/connection.ts';
import { errorOfStatus, EtcdClientError, GRPC_CODE } from './errors.ts';
import type { Method } from './methods.ts';

/** etcd's own client takes as much as comes (math.MaxInt32); a list page of 10,000 large objects fits here. */
const MESSAGE_BYTES_MAX = 512 * 1024 * 1024;

const CALL_HEADERS = { 'user-agent': 'pilothouse-apiserver' };
/** etcd then ends a stream whose member lost its leader, instead of leaving it silent. */
const STREAM_HEADERS = { ...CALL_HEADERS, hasleader: 'true' };

export const encodeMessage = <In>(type: MessageType<unknown, In>, value: In): Buffer =>
  framed(type.encode(value, MESSAGE_HEAD_BYTES));

export interface CallListener {
  onMessage(bytes: Buffer): void;
  /** Undefined: the server ended the call with OK. Called exactly once, last. */
  onEnd(error: EtcdClientError | undefined): void;
}

const errorOf = (end: GrpcEnd): EtcdClientError | undefined => {
  switch (end.kind) {
    case 'status':
      return end.code === GRPC_CODE.OK ? undefined : errorOfStatus(end.code, end.text);
    case 'lost':
      return errorOfStatus(GRPC_CODE.Unavailable, end.why, end.untouched);
    case 'malformed':
      return new EtcdClientError('Internal', `etcd's answer is not understood: ${end.why}`, {
        cause: end.cause,
      });
  }
};

/** Opens a call. Without `timeoutMs` it lives until either side ends it. */
export const openCall = (
  target: GrpcTarget,
  method: Method<never, unknown>,
  listener: CallListener,
  timeoutMs?: number,
): ClientStream =>
  openGrpcCall(
    target,
    {
      path: method.path,
      headers: timeoutMs === undefined ? STREAM_HEADERS : CALL_HEADERS,
      timeoutMs,
      messageBytesMax: MESSAGE_BYTES_MAX,
    },
    { onMessage: (bytes) => listener.onMessage(bytes), onEnd: (end) => listener.onEnd(errorOf(end)) },
  );
