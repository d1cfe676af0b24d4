import http2 from 'node:http2';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { ProbeAnswer } from '../runtimes/runtime.ts';

export interface GrpcHealthRequest {
  readonly host: string;
  readonly port: number;
  readonly service: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly userAgent: string;
}

const STATUS_NAMES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];
const UNIMPLEMENTED = '12';
const ANSWER_BYTES_MAX = 4 * 1024;

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value % 0x80) | 0x80, ...varint(Math.floor(value / 0x80))];

/** `HealthCheckRequest{service}` in a gRPC frame: field 1 is the only one. */
const encodeRequest = (service: string): Buffer => {
  const name = Buffer.from(service);
  const message =
    name.length === 0 ? Buffer.alloc(0) : Buffer.concat([Buffer.from([0x0a, ...varint(name.length)]), name]);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
};

/** `HealthCheckResponse.status`: field 1, a small varint, absent for UNKNOWN. */
const decodeStatus = (frame: Buffer): string => {
  const value = frame.length >= 7 && frame[5] === 0x08 ? frame[6]! : 0;
  return STATUS_NAMES[value] ?? String(value);
};

/** One call of grpc.health.v1.Health/Check over HTTP/2 without TLS, as upstream's probe makes it. */
export const checkGrpcHealth = (request: GrpcHealthRequest): Promise<ProbeAnswer> =>
  new Promise((resolve) => {
    const address = `${request.host}:${request.port}`;
    const session = http2.connect(`http://${address}`);
    let isConnected = false;
    const end = (ok: boolean, output: string): void => {
      timer.dispose();
      session.destroy();
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
    session.once('connect', () => (isConnected = true));
    session.on('error', (error) =>
      end(false, `error: failed to connect service at "${address}": ${messageOf(error)}`),
    );
    const stream = session.request({
      ':method': 'POST',
      ':path': '/grpc.health.v1.Health/Check',
      'content-type': 'application/grpc',
      te: 'trailers',
      'user-agent': request.userAgent,
    });
    const chunks: Buffer[] = [];
    let size = 0;
    let status = '0';
    let message = '';
    const readStatus = (headers: http2.IncomingHttpHeaders): void => {
      if (headers['grpc-status'] !== undefined) status = String(headers['grpc-status']);
      if (headers['grpc-message'] !== undefined) message = String(headers['grpc-message']);
    };
    stream.on('response', readStatus);
    stream.on('trailers', readStatus);
    stream.on('data', (chunk: Buffer) => {
      if (size < ANSWER_BYTES_MAX) chunks.push(chunk);
      size += chunk.length;
    });
    stream.on('error', (error) => end(false, `error: health rpc probe failed: ${messageOf(error)}`));
    stream.once('end', () => {
      const serving = decodeStatus(Buffer.concat(chunks));
      if (status === UNIMPLEMENTED)
        end(
          false,
          `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${message}`,
        );
      else if (status !== '0') end(false, `error: health rpc probe failed: rpc error: ${message}`);
      else if (serving !== 'SERVING') end(false, `service unhealthy (responded with "${serving}")`);
      else end(true, 'service healthy');
    });
    stream.end(encodeRequest(request.service));
  });
