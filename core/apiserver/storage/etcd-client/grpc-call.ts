import type { MessageType } from '../../../etcd/proto/wire/field.ts';
import { errorOfStatus, EtcdClientError, GRPC_CODE } from './errors.ts';
import type { ClientConnection, ClientStream, StreamEnd, StreamListener } from './http2/client-connection.ts';
import { encodeHeaders } from '../../../base/node/http2/hpack.ts';
import type { Headers } from './http2/hpack.ts';
import type { Method } from './methods.ts';

const MESSAGE_HEAD_BYTES = 5;
/** etcd's own client takes as much as comes (math.MaxInt32); a list page of 10,000 large objects fits here. */
export const MESSAGE_BYTES_MAX = 512 * 1024 * 1024;
const HEADS_MAX = 256;

/** The size grpc-timeout is rounded up to, so that few different header blocks are ever made. */
const TIMEOUT_STEP_MS = 100;
const heads = new Map<string, Buffer>();

const headOf = (path: string, authority: string, scheme: string, timeoutMs: number | undefined): Buffer => {
  const timeout =
    timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / TIMEOUT_STEP_MS) * TIMEOUT_STEP_MS;
  const id = `${scheme}|${authority}|${path}|${timeout ?? ''}`;
  const known = heads.get(id);
  if (known !== undefined) return known;
  const head = encodeHeaders([
    { name: ':method', value: 'POST' },
    { name: ':scheme', value: scheme },
    { name: ':path', value: path },
    { name: ':authority', value: authority },
    { name: 'te', value: 'trailers' },
    { name: 'content-type', value: 'application/grpc' },
    { name: 'user-agent', value: 'pilothouse-apiserver' },
    // etcd then ends a stream whose member lost its leader, instead of leaving it silent.
    timeout === undefined
      ? { name: 'hasleader', value: 'true' }
      : { name: 'grpc-timeout', value: `${timeout}m` },
  ]);
  if (heads.size >= HEADS_MAX) heads.clear();
  heads.set(id, head);
  return head;
};

export const encodeMessage = <In>(type: MessageType<unknown, In>, value: In): Buffer => {
  const bytes = type.encode(value, MESSAGE_HEAD_BYTES);
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - MESSAGE_HEAD_BYTES, 1);
  return bytes;
};

/** Cuts what arrives into messages; holds at most one that is not complete. */
class Deframer {
  readonly #onMessage: (bytes: Buffer) => void;
  #parts: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = MESSAGE_HEAD_BYTES;

  constructor(onMessage: (bytes: Buffer) => void) {
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#heldBytes += chunk.length;
    // Joined only when a message is whole: one of many frames is copied once.
    while (this.#heldBytes >= this.#neededBytes) {
      const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      const end = MESSAGE_HEAD_BYTES + bytes.readUInt32BE(1);
      if (bytes[0] !== 0 || end > MESSAGE_BYTES_MAX)
        throw new EtcdClientError('Internal', 'etcd sent a message that is compressed or too large');
      if (bytes.length < end) {
        this.#parts = [bytes];
        this.#neededBytes = end;
        return;
      }
      this.#neededBytes = MESSAGE_HEAD_BYTES;
      this.#parts = end === bytes.length ? [] : [bytes.subarray(end)];
      this.#heldBytes = bytes.length - end;
      this.#onMessage(bytes.subarray(MESSAGE_HEAD_BYTES, end));
    }
  }
}

const decodeText = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // A message that is not percent-encoded is still better read as it is than lost.
    return text;
  }
};

export interface CallListener {
  onMessage(bytes: Buffer): void;
  /** Undefined: the server ended the call with OK. Called exactly once, last. */
  onEnd(error: EtcdClientError | undefined): void;
}

class Call implements StreamListener {
  readonly #listener: CallListener;
  readonly #deframer: Deframer;
  #status: EtcdClientError | 'ok' | undefined;
  #httpStatus: string | undefined;

  constructor(listener: CallListener) {
    this.#listener = listener;
    this.#deframer = new Deframer((bytes) => listener.onMessage(bytes));
  }

  onHeaders(headers: Headers): void {
    this.#httpStatus ??= headers.get(':status');
    const code = headers.get('grpc-status');
    if (code === undefined) return;
    this.#status =
      Number(code) === GRPC_CODE.OK
        ? 'ok'
        : errorOfStatus(Number(code), decodeText(headers.get('grpc-message') ?? ''));
  }

  onData(bytes: Buffer): void {
    if (this.#status instanceof EtcdClientError) return;
    try {
      this.#deframer.push(bytes);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#status = new EtcdClientError('Internal', `etcd's answer is not understood: ${error.message}`, {
        cause: error,
      });
    }
  }

  onEnd(end: StreamEnd): void {
    this.#listener.onEnd(this.#outcome(end));
  }

  #outcome(end: StreamEnd): EtcdClientError | undefined {
    if (this.#status !== undefined) return this.#status === 'ok' ? undefined : this.#status;
    if (end.kind === 'failed') return errorOfStatus(GRPC_CODE.Unavailable, end.why, end.untouched);
    return errorOfStatus(
      GRPC_CODE.Unavailable,
      `HTTP status ${this.#httpStatus ?? 'missing'} without grpc-status`,
    );
  }
}

export interface CallTarget {
  readonly connection: ClientConnection;
  readonly authority: string;
  readonly scheme: string;
}

/** Opens a call. Without `timeoutMs` it lives until either side ends it. */
export const openCall = (
  target: CallTarget,
  method: Method<never, unknown>,
  listener: CallListener,
  timeoutMs?: number,
): ClientStream =>
  target.connection.open(headOf(method.path, target.authority, target.scheme, timeoutMs), new Call(listener));
