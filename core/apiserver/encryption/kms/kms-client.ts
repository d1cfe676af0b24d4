import { connect, constants, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { messageOf, ReasonError } from '../../../base/errors.ts';
import { MessageWriter, readMessage, type Message } from './wire.ts';

export interface KmsStatus {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

export interface EncryptedKey {
  readonly ciphertext: Uint8Array;
  readonly keyId: string;
  readonly annotations: ReadonlyMap<string, Uint8Array>;
}

/** A KMS v2 plugin. Every call ends within its time limit. */
export interface KmsService {
  status(): Promise<KmsStatus>;
  encrypt(uid: string, plaintext: Uint8Array): Promise<EncryptedKey>;
  decrypt(uid: string, encrypted: EncryptedKey): Promise<Uint8Array>;
  close(): void;
}

const SERVICE = '/v2.KeyManagementService/';
/** Far above a key of 1 KiB with 32 KiB of annotations. */
const ANSWER_BYTES_MAX = 256 * 1024;
const HEAD_BYTES = 5;

const CODES: Readonly<Record<number, string>> = {
  1: 'Canceled',
  2: 'Unknown',
  3: 'InvalidArgument',
  4: 'DeadlineExceeded',
  5: 'NotFound',
  7: 'PermissionDenied',
  8: 'ResourceExhausted',
  9: 'FailedPrecondition',
  12: 'Unimplemented',
  13: 'Internal',
  14: 'Unavailable',
  16: 'Unauthenticated',
};

/** As Go's gRPC writes an error. */
const rpcError = (code: number, text: string, cause?: unknown): ReasonError<'Kms'> =>
  new ReasonError('Kms', `rpc error: code = ${CODES[code] ?? `Code(${code})`} desc = ${text}`, { cause });

const DEADLINE = 4;
const UNAVAILABLE = 14;

const decodeFrame = (body: Buffer): Message => {
  if (body.length < HEAD_BYTES || body[0] !== 0 || body.readUInt32BE(1) !== body.length - HEAD_BYTES)
    throw rpcError(13, 'the plugin answered with a malformed message');
  return readMessage(body.subarray(HEAD_BYTES));
};

const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** One connection to the plugin's socket, opened again when it is lost. */
export const createKmsClient = (socketPath: string, timeoutMs: number): KmsService => {
  let session: ClientHttp2Session | undefined;
  let isClosed = false;
  const address = socketPath.startsWith('@') ? `\0${socketPath.slice(1)}` : socketPath;

  const connection = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    const made = connect('http://localhost', { createConnection: () => connectSocket(address) });
    made.on('error', () => made.destroy());
    made.on('goaway', () => made.close());
    // A connection at rest must not keep the server from ending; a call does, until its time is over.
    made.unref();
    return (session = made);
  };

  const call = (method: string, request: Uint8Array): Promise<Message> =>
    new Promise((resolve, reject) => {
      if (isClosed) return reject(rpcError(UNAVAILABLE, 'the connection to the KMS plugin is closed'));
      const head = Buffer.alloc(HEAD_BYTES);
      head.writeUInt32BE(request.length, 1);
      const stream = connection().request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: `${SERVICE}${method}`,
        [constants.HTTP2_HEADER_AUTHORITY]: 'localhost',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      const parts: Buffer[] = [];
      let bytes = 0;
      let status: number | undefined;
      let text = '';
      const fail = (error: Error): void => {
        clearTimeout(timer);
        reject(error);
        stream.close(constants.NGHTTP2_CANCEL);
      };
      const timer = setTimeout(() => fail(rpcError(DEADLINE, 'context deadline exceeded')), timeoutMs);
      const readStatus = (headers: Readonly<Record<string, unknown>>): void => {
        if (headers['grpc-status'] === undefined) return;
        status = Number(headers['grpc-status']);
        text = percentDecoded(String(headers['grpc-message'] ?? ''));
      };
      stream.on('response', readStatus);
      stream.on('trailers', readStatus);
      stream.on('data', (part: Buffer) => {
        bytes += part.length;
        if (bytes > ANSWER_BYTES_MAX)
          fail(rpcError(8, 'the plugin answered with a message that is too large'));
        else parts.push(part);
      });
      stream.on('error', (error) => fail(rpcError(UNAVAILABLE, messageOf(error), error)));
      stream.on('close', () => {
        clearTimeout(timer);
        if (status === undefined) return reject(rpcError(UNAVAILABLE, 'the plugin closed the connection'));
        if (status !== 0) return reject(rpcError(status, text));
        try {
          resolve(decodeFrame(Buffer.concat(parts)));
        } catch (error) {
          reject(error as Error);
        }
      });
      stream.end(Buffer.concat([head, request]));
    });

  return {
    async status() {
      const answer = await call('Status', new Uint8Array());
      return { version: answer.text(1), healthz: answer.text(2), keyId: answer.text(3) };
    },
    async encrypt(uid, plaintext) {
      const answer = await call('Encrypt', new MessageWriter().bytes(1, plaintext).bytes(2, uid).finish());
      return { ciphertext: answer.bytes(1), keyId: answer.text(2), annotations: answer.map(3) };
    },
    async decrypt(uid, { ciphertext, keyId, annotations }) {
      const request = new MessageWriter()
        .bytes(1, ciphertext)
        .bytes(2, uid)
        .bytes(3, keyId)
        .map(4, annotations)
        .finish();
      return (await call('Decrypt', request)).bytes(1);
    },
    close() {
      isClosed = true;
      session?.destroy();
    },
  };
};
