import type { Readable } from 'node:stream';
import { ReasonError } from '../../base/errors.ts';
import { badRequest, requestEntityTooLarge } from '../../api/meta/index.ts';
import { BODY_BYTES_MAX } from './request.ts';

export const bodyTooLarge = (bytesMax: number) => requestEntityTooLarge(`limit is ${bytesMax}`);
export const bodyCutOff = (): ReasonError<'ClientGone'> =>
  new ReasonError('ClientGone', 'the client went away while it sent the body');

/** Once past the limit the rest is let run by, up to this much, so that a client in the middle of sending reads the 413. */
export const DISCARD_BYTES_MAX = 8 * 1024 * 1024;

/** Where the bytes of one body come from. */
export interface BodySource {
  /** Called at most once. Rejects with 413 past the bound, with `ClientGone` where the body never ends. */
  collect(bytesMax: number): Promise<Uint8Array>;
  /** No one will read it. */
  discard(): void;
  /** Anyone who reads it need not wait any more. */
  abort(): void;
}

/** The body of a message of HTTP/1.1. */
export const readableBody = (stream: Readable): BodySource => {
  let giveUp: (() => void) | undefined;
  return {
    collect: (bytesMax) =>
      new Promise((resolve, reject) => {
        const chunks: Buffer[] = [];
        let total = 0;
        const onData = (chunk: Buffer): void => {
          total += chunk.byteLength;
          if (total > bytesMax) settle(() => reject(bodyTooLarge(bytesMax)));
          else chunks.push(chunk);
        };
        const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, total)));
        const onGone = (): void => settle(() => reject(bodyCutOff()));
        const onError = (): void =>
          settle(() => reject(badRequest('unable to read the body of the request')));
        const settle = (finish: () => void): void => {
          giveUp = undefined;
          stream.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onError);
          // A late error of a stream that no one reads must not become an uncaught one.
          stream.on('error', () => undefined);
          if (!stream.readableEnded) discardReadable(stream);
          finish();
        };
        if (stream.destroyed) {
          onGone();
          return;
        }
        giveUp = onGone;
        stream.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onError);
      }),
    discard: () => discardReadable(stream),
    abort: () => giveUp?.(),
  };
};

const discardReadable = (stream: Readable): void => {
  let left = DISCARD_BYTES_MAX;
  stream.on('data', (chunk: Buffer) => {
    left -= chunk.byteLength;
    if (left < 0) stream.destroy();
  });
  stream.resume();
};

export interface BodyReaderOptions {
  readonly source: BodySource;
  /** Undefined where the client did not say. */
  readonly declaredBytes: number | undefined;
  readonly isAborted: () => boolean;
}

/** Reads a body once and keeps it: admission, validation and audit see the same bytes. */
export const bodyReader = (options: BodyReaderOptions): ((bytesMax?: number) => Promise<Uint8Array>) => {
  const { source, declaredBytes, isAborted } = options;
  let reading: Promise<Uint8Array> | undefined;
  const failed = (error: unknown): Promise<Uint8Array> => {
    source.discard();
    const failure = Promise.reject<Uint8Array>(error);
    // Anyone who asks gets the rejection; if no one asks again it is still handled.
    failure.catch(() => undefined);
    return failure;
  };
  return (bytesMax = BODY_BYTES_MAX) => {
    if (reading !== undefined) return reading;
    if (isAborted()) reading = failed(bodyCutOff());
    else if (declaredBytes !== undefined && declaredBytes > bytesMax)
      reading = failed(bodyTooLarge(bytesMax));
    else reading = source.collect(bytesMax);
    return reading;
  };
};
