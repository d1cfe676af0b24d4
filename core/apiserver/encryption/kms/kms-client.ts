import { connect as connectSocket } from 'node:net';
import { messageOf, ReasonError } from '../../../base/errors.ts';
import { CODE, codeName } from '../../../base/node/grpc/codes.ts';
import { openGrpcSession, type GrpcSession } from '../../../base/node/grpc/session.ts';
import { unaryCall } from '../../../base/node/grpc/unary-call.ts';
import { MessageWriter } from '../../../base/node/protobuf/message-writer.ts';
import { readMessage, type Message } from '../../../base/node/protobuf/read-message.ts';

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

/** As Go's gRPC writes an error. */
const rpcError = (code: number, text: string, cause?: unknown): ReasonError<'Kms'> =>
  new ReasonError('Kms', `rpc error: code = ${codeName(code)} desc = ${text}`, { cause });

const malformed = (cause?: unknown): ReasonError<'Kms'> =>
  rpcError(CODE.Internal, 'the plugin answered with a malformed message', cause);

const decoded = (message: Buffer | undefined): Message => {
  if (!message) throw malformed();
  try {
    return readMessage(message);
  } catch (error) {
    throw malformed(error);
  }
};

/** One connection to the plugin's socket, opened again when it is lost. */
export const createKmsClient = (socketPath: string, timeoutMs: number): KmsService => {
  let session: GrpcSession | undefined;
  let isClosed = false;
  const address = socketPath.startsWith('@') ? `\0${socketPath.slice(1)}` : socketPath;

  const connection = (): GrpcSession => {
    if (session?.connection.usable === true) return session;
    const socket = connectSocket(address);
    // A connection at rest must not keep the server from ending; a call does, until its time is over.
    socket.unref();
    return (session = openGrpcSession(socket, 'localhost', 'http'));
  };

  const call = async (method: string, message: Uint8Array): Promise<Message> => {
    if (isClosed) throw rpcError(CODE.Unavailable, 'the connection to the KMS plugin is closed');
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), timeoutMs);
    try {
      const answer = await unaryCall(connection(), {
        path: `${SERVICE}${method}`,
        message,
        answerBytesMax: ANSWER_BYTES_MAX,
        signal: late.signal,
      });
      if (late.signal.aborted) throw rpcError(CODE.DeadlineExceeded, 'context deadline exceeded');
      if (answer.isTooLarge)
        throw rpcError(CODE.ResourceExhausted, 'the plugin answered with a message that is too large');
      if (answer.status === undefined) {
        const why = answer.error ? messageOf(answer.error) : 'the plugin closed the connection';
        throw rpcError(CODE.Unavailable, why, answer.error);
      }
      if (answer.status !== 0) throw rpcError(answer.status, answer.text);
      return decoded(answer.message);
    } finally {
      clearTimeout(timer);
    }
  };

  return {
    async status() {
      const answer = await call('Status', new Uint8Array());
      return { version: answer.text(1), healthz: answer.text(2), keyId: answer.text(3) };
    },
    async encrypt(uid, plaintext) {
      const answer = await call('Encrypt', new MessageWriter().bytes(1, plaintext).string(2, uid).finish());
      return { ciphertext: answer.bytes(1), keyId: answer.text(2), annotations: answer.map(3) };
    },
    async decrypt(uid, { ciphertext, keyId, annotations }) {
      const request = new MessageWriter()
        .bytes(1, ciphertext)
        .string(2, uid)
        .string(3, keyId)
        .map(4, annotations)
        .finish();
      return (await call('Decrypt', request)).bytes(1);
    },
    close() {
      isClosed = true;
      session?.close('the connection to the KMS plugin is closed');
    },
  };
};
