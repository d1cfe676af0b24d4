import { connect, constants, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2';
import type { SecureContextOptions } from 'node:tls';
import type { MessageType } from '../../core/etcd/proto/wire/field.ts';

const FRAME_HEADER_BYTES = 5;

/** What a server answered instead of a message: gRPC's code and text. */
export class RpcError extends Error {
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export interface RpcMethod<In, Out> {
  readonly path: string;
  readonly request: MessageType<unknown, In>;
  readonly response: MessageType<Out, never>;
}

export interface RpcStream<In> {
  send(message: In): void;
  /** Says that no message follows; answers still come. */
  end(): void;
  /** Resolves with the final status, 0 when all went well. */
  readonly ended: Promise<{ code: number; message: string }>;
  close(): void;
}

export interface RpcClient {
  unary<In, Out>(method: RpcMethod<In, Out>, input: In): Promise<Out>;
  stream<In, Out>(method: RpcMethod<In, Out>, onMessage: (message: Out) => void): RpcStream<In>;
  /** Resolves when the connection is up. */
  ready(): Promise<void>;
  close(): void;
}

const frame = <In>(type: MessageType<unknown, In>, value: In): Buffer => {
  const bytes = type.encode(value, FRAME_HEADER_BYTES) as Buffer;
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - FRAME_HEADER_BYTES, 1);
  return bytes;
};

/** Calls `onMessage` for each whole message; keeps at most one incomplete message. */
const deframer = (onMessage: (bytes: Buffer) => void): ((chunk: Buffer) => void) => {
  let rest: Buffer = Buffer.alloc(0);
  return (chunk) => {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      if (rest.length < FRAME_HEADER_BYTES) return;
      const end = FRAME_HEADER_BYTES + rest.readUInt32BE(1);
      if (rest.length < end) return;
      onMessage(rest.subarray(FRAME_HEADER_BYTES, end));
      rest = rest.subarray(end);
    }
  };
};

/**
 * A gRPC client of few lines over one HTTP/2 connection, for tests and benches: the same code measures our
 * members and a real etcd, and costs so little that the server is what is measured.
 */
export const connectRpc = (
  url: string,
  tls: SecureContextOptions = {},
  metadata: Readonly<Record<string, string>> = {},
): RpcClient => {
  const session: ClientHttp2Session = connect(url, { ...tls, settings: { initialWindowSize: 1 << 20 } });
  session.setMaxListeners(0);
  let failure: Error | undefined;
  session.on('error', (error) => (failure = error));
  const connected = new Promise<void>((resolve, reject) => {
    session.once('connect', () => {
      session.setLocalWindowSize(1 << 24);
      resolve();
    });
    session.once('error', reject);
    session.once('close', () => reject(failure ?? new Error('connection closed')));
  });
  connected.catch(() => undefined);

  const open = (path: string, endStream: boolean): ClientHttp2Stream =>
    session.request(
      {
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        'content-type': 'application/grpc',
        te: 'trailers',
        ...metadata,
      },
      { endStream },
    );

  const statusOf = (stream: ClientHttp2Stream): Promise<{ code: number; message: string }> =>
    new Promise((resolve) => {
      let status: { code: number; message: string } | undefined;
      const read = (headers: Record<string, unknown>): void => {
        if (headers['grpc-status'] !== undefined)
          status = {
            code: Number(headers['grpc-status']),
            message: decodeURIComponent(String(headers['grpc-message'] ?? '')),
          };
      };
      stream.on('response', read);
      stream.on('trailers', read);
      stream.on('error', (error) => (status ??= { code: 14, message: error.message }));
      stream.on('close', () =>
        resolve(status ?? { code: 14, message: failure?.message ?? 'connection closed' }),
      );
    });

  return {
    ready: () => connected,
    async unary(method, input) {
      if (failure) throw new RpcError(14, failure.message);
      const stream = open(method.path, false);
      let answer: Buffer | undefined;
      const ended = statusOf(stream);
      stream.on(
        'data',
        deframer((bytes) => (answer = bytes)),
      );
      stream.end(frame(method.request, input));
      const { code, message } = await ended;
      if (code !== 0 || answer === undefined) throw new RpcError(code, message);
      return method.response.decode(answer);
    },
    stream(method, onMessage) {
      const stream = open(method.path, false);
      stream.on(
        'data',
        deframer((bytes) => onMessage(method.response.decode(bytes))),
      );
      return {
        send: (message) => void stream.write(frame(method.request, message)),
        end: () => void stream.end(),
        ended: statusOf(stream),
        close: () => stream.close(constants.NGHTTP2_CANCEL),
      };
    },
    close: () => session.destroy(),
  };
};
