import { connect } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import { CODE } from '../../base/node/grpc/codes.ts';
import { openGrpcSession } from '../../base/node/grpc/session.ts';
import { unaryCall } from '../../base/node/grpc/unary-call.ts';
import { MessageWriter } from '../../base/node/protobuf/message-writer.ts';
import { readMessage } from '../../base/node/protobuf/read-message.ts';
import type { ProbeAnswer } from '../runtimes/runtime.ts';

export interface GrpcHealthRequest {
  readonly host: string;
  readonly port: number;
  readonly localAddress?: string | undefined;
  readonly service: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly userAgent: string;
}

const STATUS_NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const ANSWER_BYTES_MAX = 4 * 1024;

/** `HealthCheckResponse.status`: field 1, absent for UNKNOWN. */
const statusIn = (message: Buffer | undefined): string => {
  const value = message ? readMessage(message).varint(1) : 0;
  return STATUS_NAMES[value] ?? String(value);
};

/** One call of grpc.health.v1.Health/Check over HTTP/2 without TLS, as upstream's probe makes it. */
export const checkGrpcHealth = (request: GrpcHealthRequest): Promise<ProbeAnswer> =>
  new Promise((resolve) => {
    const address = `${request.host}:${request.port}`;
    const { host, port, localAddress } = request;
    const socket = connect({ host, port, ...(localAddress !== undefined && { localAddress }) });
    let isConnected = false;
    const end = (ok: boolean, output: string): void => {
      timer.dispose();
      session.close('the probe is over');
      resolve({ ok, output });
    };
    const seconds = `${request.timeoutMs / 1000}s`;
    const timer = request.clock.after(request.timeoutMs, () =>
      end(
        false,
        isConnected
          ? `timeout: health rpc did not complete within ${seconds}`
          : `timeout: failed to connect service "${address}" within ${seconds}: context deadline exceeded`,
      ),
    );
    socket.once('connect', () => (isConnected = true));
    socket.on('error', (error) =>
      end(false, `error: failed to connect service at "${address}": ${messageOf(error)}`),
    );
    const session = openGrpcSession(socket, address, 'http');
    unaryCall(session, {
      path: '/grpc.health.v1.Health/Check',
      message: new MessageWriter().string(1, request.service).finish(),
      headers: { 'user-agent': request.userAgent },
      answerBytesMax: ANSWER_BYTES_MAX,
    })
      .then(({ status, text, message, error }) => {
        if (status === undefined)
          return end(false, `error: health rpc probe failed: ${error ? messageOf(error) : 'no answer'}`);
        if (status === CODE.Unimplemented)
          return end(
            false,
            `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${text}`,
          );
        if (status !== 0) return end(false, `error: health rpc probe failed: rpc error: ${text}`);
        const serving = statusIn(message);
        if (serving === 'SERVING') end(true, 'service healthy');
        else end(false, `service unhealthy (responded with "${serving}")`);
      })
      .catch((error: unknown) => end(false, `error: health rpc probe failed: ${messageOf(error)}`));
  });
