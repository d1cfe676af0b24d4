import type { Readable } from 'node:stream';
import { ReasonError } from '../../base/errors.ts';
import { badRequest, requestEntityTooLarge } from '../../api/meta/index.ts';
import { BODY_BYTES_MAX } from './request.ts';

const tooLarge = (bytesMax: number) => requestEntityTooLarge(`limit is ${bytesMax}`);

/** Once past the limit the rest is let run by, up to this much, so that a client in the middle of sending reads the 413. */
const DISCARD_BYTES_MAX = 8 * 1024 * 1024;

export interface BodySource {
  readonly stream: Readable;
  /** Undefined where the client did not say. */
  readonly declaredBytes: number | undefined;
  readonly signal: AbortSignal;
}

const collect = (source: BodySource, bytesMax: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const { stream, signal } = source;
    const chunks: Buffer[] = [];
    let total = 0;
    const onData = (chunk: Buffer): void => {
      total += chunk.byteLength;
      if (total > bytesMax) settle(() => reject(tooLarge(bytesMax)));
      else chunks.push(chunk);
    };
    const onEnd = (): void => settle(() => resolve(Buffer.concat(chunks, total)));
    const onGone = (): void =>
      settle(() => reject(new ReasonError('ClientGone', 'the client went away while it sent the body')));
    const onError = (): void => settle(() => reject(badRequest('unable to read the body of the request')));
    const settle = (finish: () => void): void => {
      stream.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onError);
      signal.removeEventListener('abort', onGone);
      // A late error of a stream that nobody reads must not become an uncaught one.
      stream.on('error', () => undefined);
      if (!stream.readableEnded) discard(stream);
      finish();
    };
    if (signal.aborted || stream.destroyed) {
      onGone();
      return;
    }
    stream.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onError);
    signal.addEventListener('abort', onGone, { once: true });
  });

const discard = (stream: Readable): void => {
  let left = DISCARD_BYTES_MAX;
  stream.on('data', (chunk: Buffer) => {
    left -= chunk.byteLength;
    if (left < 0) stream.destroy();
  });
  stream.resume();
};

/** Reads a body once and keeps it: admission, validation and audit see the same bytes. */
export const bodyReader = (source: BodySource): ((bytesMax?: number) => Promise<Uint8Array>) => {
  let reading: Promise<Uint8Array> | undefined;
  return (bytesMax = BODY_BYTES_MAX) => {
    if (reading === undefined) {
      if (source.declaredBytes !== undefined && source.declaredBytes > bytesMax) {
        discard(source.stream);
        reading = Promise.reject(tooLarge(bytesMax));
        // Whoever asks gets the rejection; if nobody asks again it is still handled.
        reading.catch(() => undefined);
      } else reading = collect(source, bytesMax);
    }
    return reading;
  };
};
