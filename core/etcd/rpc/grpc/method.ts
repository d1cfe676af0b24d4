import type { MessageType } from '../../proto/wire/index.ts';
import type { Status } from './status.ts';

/** Who called. */
export interface Peer {
  /** `host:port` */
  readonly address: string;
  /** The common name of the client's certificate, when it showed one that was verified. */
  commonName(): string | undefined;
}

/** What a handler knows of its call besides the request. */
export interface CallContext {
  readonly method: MethodName;
  readonly peer: Peer;
  /** A request header; names are lower case. */
  metadata(name: string): string | undefined;
  /** True once no one waits for the answer: the client left, the deadline passed, or the call was failed. */
  readonly over: boolean;
  /** Aborted when the call is over. Made at first use: most calls never ask. */
  readonly signal: AbortSignal;
  /** Ends the call now with this status, whatever its handler does later. */
  fail(status: Status): void;
}

/** A call whose answer is many messages. */
export interface OutgoingStream<In> extends CallContext {
  send(message: In): void;
  /** A message that is encoded already, behind MESSAGE_HEAD_BYTES of room that this call fills in. Takes ownership. */
  sendEncoded(bytes: Buffer): void;
  /** Bytes accepted by `send` that the client has not made room for. */
  readonly queuedBytes: number;
  /** Resolves with true when little is queued, with false when the call is over. */
  drained(): Promise<boolean>;
}

export interface DuplexStream<Out, In> extends OutgoingStream<In> {
  /** The next request, or undefined after the last one. Throws StatusError when it cannot be read. */
  receive(): Promise<Out | undefined>;
}

export interface MethodName {
  readonly service: string;
  readonly method: string;
  readonly type: 'unary' | 'server_stream' | 'bidi_stream';
}

interface MethodBase<ReqOut, ResIn> extends MethodName {
  // Of each codec one direction is typed; the JSON gateway uses the other one by the declaration of the fields.
  readonly request: Pick<MessageType<ReqOut, never>, 'decode' | 'create' | 'name' | 'fields'>;
  readonly response: Pick<MessageType<unknown, ResIn>, 'encode' | 'decode' | 'name' | 'fields'>;
}
export interface UnaryMethod<ReqOut, ResIn> extends MethodBase<ReqOut, ResIn> {
  readonly type: 'unary';
  handle(request: ReqOut, context: CallContext): ResIn | Promise<ResIn>;
}
export interface ServerStreamMethod<ReqOut, ResIn> extends MethodBase<ReqOut, ResIn> {
  readonly type: 'server_stream';
  handle(request: ReqOut, stream: OutgoingStream<ResIn>): Promise<void>;
}
export interface BidiMethod<ReqOut, ResIn> extends MethodBase<ReqOut, ResIn> {
  readonly type: 'bidi_stream';
  handle(stream: DuplexStream<ReqOut, ResIn>): Promise<void>;
}

export type Method =
  UnaryMethod<unknown, unknown> | ServerStreamMethod<unknown, unknown> | BidiMethod<unknown, unknown>;

/** Forgets the message types once handler and codecs were checked against each other. */
export const unary = <ReqOut, ResIn>(
  service: string,
  method: string,
  rest: Omit<UnaryMethod<ReqOut, ResIn>, keyof MethodName>,
): Method => ({ service, method, type: 'unary', ...rest }) as UnaryMethod<ReqOut, ResIn> as Method;
export const serverStream = <ReqOut, ResIn>(
  service: string,
  method: string,
  rest: Omit<ServerStreamMethod<ReqOut, ResIn>, keyof MethodName>,
): Method =>
  ({ service, method, type: 'server_stream', ...rest }) as ServerStreamMethod<ReqOut, ResIn> as Method;
export const bidiStream = <ReqOut, ResIn>(
  service: string,
  method: string,
  rest: Omit<BidiMethod<ReqOut, ResIn>, keyof MethodName>,
): Method => ({ service, method, type: 'bidi_stream', ...rest }) as BidiMethod<ReqOut, ResIn> as Method;

/** Told of every call; grpc_server_{started,handled,msg_received,msg_sent}_total are counted from it. */
export interface RpcObserver {
  /** `clientVersion` is what the client says of itself in `client-api-version`. */
  started(method: MethodName, clientVersion: string | undefined): void;
  /** Bytes of the message as it is on the wire of gRPC. */
  messageReceived(method: MethodName, bytes: number): void;
  messageSent(method: MethodName, bytes: number): void;
  /** Once for each started call. */
  handled(method: MethodName, code: Status['code'], durationMs: number, remote: string): void;
}
