import { constants, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';

const HEAD_BYTES = 5;

export interface UnaryRequest {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly message: Uint8Array;
  /** Besides those that every call has. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answerBytesMax: number;
  /** Ends the call; its answer is then `Canceled`. */
  readonly signal?: AbortSignal;
}

/** How a call ended. `status` is undefined where the connection ended first, for which `error` may say why. */
export interface UnaryAnswer {
  readonly status: number | undefined;
  /** Of the status. */
  readonly text: string;
  /** Undefined where there is none, or more or less than one whole message. */
  readonly message: Buffer | undefined;
  readonly isTooLarge: boolean;
  readonly error: Error | undefined;
}

const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

const messageIn = (body: Buffer): Buffer | undefined =>
  body.length >= HEAD_BYTES && body[0] === 0 && body.readUInt32BE(1) === body.length - HEAD_BYTES
    ? body.subarray(HEAD_BYTES)
    : undefined;

/** One gRPC call with one message each way. Never rejects: every end is an answer. */
export const unaryCall = (session: ClientHttp2Session, request: UnaryRequest): Promise<UnaryAnswer> =>
  new Promise((resolve) => {
    const { path, message, headers, answerBytesMax, signal } = request;
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      te: 'trailers',
      'content-type': 'application/grpc',
      ...headers,
    });
    const parts: Buffer[] = [];
    let bytes = 0;
    let status: number | undefined;
    let text = '';
    let error: Error | undefined;
    const cancel = (): void => stream.close(constants.NGHTTP2_CANCEL);
    const note = (received: IncomingHttpHeaders): void => {
      if (received['grpc-status'] === undefined) return;
      status = Number(received['grpc-status']);
      text = percentDecoded(String(received['grpc-message'] ?? ''));
    };
    stream.on('response', note);
    stream.on('trailers', note);
    stream.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > answerBytesMax) cancel();
      else parts.push(part);
    });
    stream.on('error', (cause: Error) => (error ??= cause));
    stream.on('close', () => {
      signal?.removeEventListener('abort', cancel);
      const isTooLarge = bytes > answerBytesMax;
      const whole = isTooLarge ? undefined : messageIn(Buffer.concat(parts));
      resolve({ status: isTooLarge ? undefined : status, text, message: whole, isTooLarge, error });
    });
    signal?.addEventListener('abort', cancel, { once: true });
    if (signal?.aborted) cancel();
    const head = Buffer.alloc(HEAD_BYTES);
    head.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([head, message]));
  });
