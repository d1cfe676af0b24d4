import type { ClientStream } from '../http2/client/connection.ts';
import { framed, MESSAGE_HEAD_BYTES, openGrpcCall, type GrpcEnd, type GrpcTarget } from './call.ts';

/** Messages that wait for their reader; the window of the stream can be on its way besides. */
const HELD_BYTES_MAX = 1024 * 1024;

export interface ServerStreamRequest {
  /** `/package.Service/Method` */
  readonly path: string;
  readonly message: Uint8Array;
  readonly messageBytesMax: number;
  /** Of silence while the reader waits, not of the whole: a snapshot takes as long as it takes. */
  readonly silenceMsMax: number;
}

/** What arrived and was not read yet. The server is held back while that is much. */
class Inbox {
  readonly #messages: Buffer[] = [];
  #heldBytes = 0;
  #wake: (() => void) | undefined;
  end: GrpcEnd | undefined;
  stream: ClientStream | undefined;

  onMessage(bytes: Buffer): void {
    this.#messages.push(bytes);
    this.#heldBytes += bytes.length;
    if (this.#heldBytes > HELD_BYTES_MAX) this.stream?.pause();
    this.#wake?.();
  }

  onEnd(end: GrpcEnd): void {
    this.end = end;
    this.#wake?.();
  }

  take(): Buffer | undefined {
    const message = this.#messages.shift();
    if (message === undefined) return undefined;
    this.#heldBytes -= message.length;
    if (this.stream?.isPaused === true && this.#heldBytes <= HELD_BYTES_MAX) this.stream.resume();
    return message;
  }

  /** Until there is a message or the end. */
  async wait(silenceMsMax: number): Promise<void> {
    const silent = setTimeout(() => this.stream?.cancel(`no answer for ${silenceMsMax} ms`), silenceMsMax);
    await new Promise<void>((resolve) => (this.#wake = resolve));
    clearTimeout(silent);
    this.#wake = undefined;
  }
}

/** One message there, any number back, as fast as they are read. Returns how the call ended; leaving early cancels it. */
export async function* serverStream(
  target: GrpcTarget,
  { path, message, messageBytesMax, silenceMsMax }: ServerStreamRequest,
): AsyncGenerator<Buffer, GrpcEnd> {
  const inbox = new Inbox();
  const stream = openGrpcCall(target, { path, messageBytesMax }, inbox);
  inbox.stream = stream;
  stream.write(framed(Buffer.concat([Buffer.alloc(MESSAGE_HEAD_BYTES), message])), true);
  try {
    for (;;) {
      const bytes = inbox.take();
      if (bytes !== undefined) yield bytes;
      else if (inbox.end !== undefined) return inbox.end;
      else await inbox.wait(silenceMsMax);
    }
  } finally {
    stream.cancel('the answer is no longer wanted');
  }
}
