import { encodeHeaders } from '../http2/hpack.ts';
import type {
  ClientConnection,
  ClientStream,
  StreamEnd,
  StreamListener,
} from '../http2/client/connection.ts';
import type { Headers } from '../http2/client/hpack.ts';

export const MESSAGE_HEAD_BYTES = 5;
const HEADS_MAX = 256;

/** Where calls go: a connection, and what its requests name. */
export interface GrpcTarget {
  readonly connection: ClientConnection;
  readonly authority: string;
  readonly scheme: string;
}

/** How a call ended: with the server's status, without one, or with bytes that are no message. */
export type GrpcEnd =
  | { readonly kind: 'status'; readonly code: number; readonly text: string }
  /** `untouched`: the server has certainly not acted on the call, so it may be sent again. */
  | { readonly kind: 'lost'; readonly why: string; readonly untouched: boolean }
  | { readonly kind: 'malformed'; readonly why: string; readonly cause: unknown };

export interface GrpcListener {
  /** What it throws ends the call as malformed. */
  onMessage(bytes: Buffer): void;
  /** Called exactly once, last. */
  onEnd(end: GrpcEnd): void;
}

export interface GrpcRequest {
  /** `/package.Service/Method` */
  readonly path: string;
  /** Besides those that every call has. A few sets at most: each becomes a header block that is kept. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as grpc-timeout; the caller ends the call itself. */
  readonly timeoutMs?: number | undefined;
  readonly messageBytesMax: number;
}

/** The size grpc-timeout is rounded up to, so that few different header blocks are ever made. */
const TIMEOUT_STEP_MS = 100;
const heads = new Map<string, Buffer>();

const headOf = (
  { authority, scheme }: GrpcTarget,
  { path, headers = {}, timeoutMs }: GrpcRequest,
): Buffer => {
  const timeout =
    timeoutMs === undefined ? undefined : Math.ceil(timeoutMs / TIMEOUT_STEP_MS) * TIMEOUT_STEP_MS;
  let id = `${scheme}|${authority}|${path}|${timeout ?? ''}`;
  for (const name in headers) id += `|${name}:${headers[name]!}`;
  const known = heads.get(id);
  if (known !== undefined) return known;
  const head = encodeHeaders([
    { name: ':method', value: 'POST' },
    { name: ':scheme', value: scheme },
    { name: ':path', value: path },
    { name: ':authority', value: authority },
    { name: 'te', value: 'trailers' },
    { name: 'content-type', value: 'application/grpc' },
    ...(timeout === undefined ? [] : [{ name: 'grpc-timeout', value: `${timeout}m` }]),
    ...Object.entries(headers).map(([name, value]) => ({ name, value })),
  ]);
  if (heads.size >= HEADS_MAX) heads.clear();
  heads.set(id, head);
  return head;
};

/** Writes the head of a message into the bytes that were left for it. */
export const framed = (bytes: Buffer): Buffer => {
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - MESSAGE_HEAD_BYTES, 1);
  return bytes;
};

export class MessageTooLarge extends Error {}

/** Cuts what arrives into messages; holds at most one that is not complete. */
class Deframer {
  readonly #onMessage: (bytes: Buffer) => void;
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = MESSAGE_HEAD_BYTES;

  constructor(bytesMax: number, onMessage: (bytes: Buffer) => void) {
    this.#bytesMax = bytesMax;
    this.#onMessage = onMessage;
  }

  push(chunk: Buffer): void {
    this.#parts.push(chunk);
    this.#heldBytes += chunk.length;
    // Joined only when a message is whole: one of many frames is copied once.
    while (this.#heldBytes >= this.#neededBytes) {
      const bytes = this.#parts.length === 1 ? this.#parts[0]! : Buffer.concat(this.#parts);
      const end = MESSAGE_HEAD_BYTES + bytes.readUInt32BE(1);
      if (bytes[0] !== 0) throw new Error('the message is compressed');
      if (end > this.#bytesMax) throw new MessageTooLarge('the message is too large');
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

class Call implements StreamListener {
  readonly #listener: GrpcListener;
  readonly #deframer: Deframer;
  #end: GrpcEnd | undefined;
  #httpStatus: string | undefined;
  stream: ClientStream | undefined;

  constructor(listener: GrpcListener, messageBytesMax: number) {
    this.#listener = listener;
    this.#deframer = new Deframer(messageBytesMax, (bytes) => listener.onMessage(bytes));
  }

  onHeaders(headers: Headers): void {
    this.#httpStatus ??= headers.get(':status');
    const code = headers.get('grpc-status');
    if (code === undefined || this.#end?.kind === 'malformed') return;
    this.#end = { kind: 'status', code: Number(code), text: decodeText(headers.get('grpc-message') ?? '') };
  }

  onData(bytes: Buffer): void {
    if (this.#end !== undefined) return;
    try {
      this.#deframer.push(bytes);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#end = { kind: 'malformed', why: error.message, cause: error };
      this.stream?.cancel(error.message);
    }
  }

  onEnd(end: StreamEnd): void {
    this.#listener.onEnd(this.#end ?? this.#lost(end));
  }

  #lost(end: StreamEnd): GrpcEnd {
    if (end.kind === 'failed') return { kind: 'lost', why: end.why, untouched: end.untouched };
    const why = `HTTP status ${this.#httpStatus ?? 'missing'} without grpc-status`;
    return { kind: 'lost', why, untouched: false };
  }
}

/** Opens a call; messages are written to the stream, each `framed`. It lives until either side ends it. */
export const openGrpcCall = (
  target: GrpcTarget,
  request: GrpcRequest,
  listener: GrpcListener,
): ClientStream => {
  const call = new Call(listener, request.messageBytesMax);
  const stream = target.connection.open(headOf(target, request), call);
  call.stream = stream;
  return stream;
};
