import { framed, MESSAGE_HEAD_BYTES, MessageTooLarge, openGrpcCall, type GrpcTarget } from './call.ts';

export interface UnaryRequest {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly message: Uint8Array;
  /** Besides those that every call has. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly answerBytesMax: number;
  /** Ends the call. */
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

/** One gRPC call with one message each way. Never rejects: every end is an answer. */
export const unaryCall = (target: GrpcTarget, request: UnaryRequest): Promise<UnaryAnswer> =>
  new Promise((resolve) => {
    const { path, message, headers, answerBytesMax, signal } = request;
    const messages: Buffer[] = [];
    const cancel = (): void => stream.cancel('the call was given up');
    const stream = openGrpcCall(
      target,
      { path, messageBytesMax: answerBytesMax, ...(headers && { headers }) },
      {
        onMessage: (bytes) => messages.push(bytes),
        onEnd(end) {
          signal?.removeEventListener('abort', cancel);
          const [whole] = messages.length === 1 ? messages : [];
          if (end.kind === 'status')
            return resolve({
              status: end.code,
              text: end.text,
              message: whole,
              isTooLarge: false,
              error: undefined,
            });
          const isTooLarge = end.kind === 'malformed' && end.cause instanceof MessageTooLarge;
          const error = new Error(end.why);
          resolve({ status: undefined, text: '', message: undefined, isTooLarge, error });
        },
      },
    );
    signal?.addEventListener('abort', cancel, { once: true });
    stream.write(framed(Buffer.concat([Buffer.alloc(MESSAGE_HEAD_BYTES), message])), true);
    if (signal?.aborted) cancel();
  });
