import type { Socket } from 'node:net';
import { FLAG, frame, FRAME, PREFACE } from '../../core/base/node/http2/frame.ts';

/** For what hangs: a busy machine is far below it. */
const OUTCOME_MS_MAX = 120_000;
const HEAD_BYTES = 9;

export interface FrameInput {
  readonly bytes: Buffer;
  /** Not whole frames: the reader of the other side would wait for their rest. */
  readonly isLast: boolean;
}

export interface FrameTally {
  /** Inputs after which the connection still answered a PING: it had read them. */
  readonly read: number;
  /** Inputs on which the other side ended the connection. */
  readonly ended: number;
  /** Streams that got response headers. */
  readonly answered: number;
}

interface Link {
  readonly answered: number;
  /** Whether the connection is there for the next input. */
  send(input: FrameInput): Promise<boolean>;
  close(): void;
}

const openLink = (socket: Socket): Link => {
  let [rest, answered, pings] = [Buffer.alloc(0), 0, 0];
  let isAwaited: ((isOpen: boolean) => void) | undefined;
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= HEAD_BYTES && rest.length >= HEAD_BYTES + rest.readUIntBE(0, 3)) {
      const payload = rest.subarray(HEAD_BYTES, HEAD_BYTES + rest.readUIntBE(0, 3));
      const [type, flags] = [rest[3]!, rest[4]!];
      rest = rest.subarray(HEAD_BYTES + payload.length);
      if (type === FRAME.headers) answered += 1;
      if (type === FRAME.ping && (flags & FLAG.ack) !== 0 && payload.readUInt32BE(4) === pings)
        isAwaited?.(true);
    }
  });
  socket.once('close', () => isAwaited?.(false));
  socket.write(Buffer.concat([PREFACE, frame(FRAME.settings, 0, 0, Buffer.alloc(0))]));
  return {
    get answered() {
      return answered;
    },
    send: ({ bytes, isLast }) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
          socket.destroy();
          reject(new Error(`neither a PING nor the end of the connection for ${bytes.toString('hex')}`));
        }, OUTCOME_MS_MAX);
        isAwaited = (isOpen) => {
          isAwaited = undefined;
          clearTimeout(limit);
          resolve(isOpen);
        };
        if (socket.closed) return isAwaited(false);
        if (isLast) return void socket.end(bytes);
        pings += 1;
        const payload = Buffer.alloc(8);
        payload.writeUInt32BE(pings, 4);
        socket.write(Buffer.concat([bytes, frame(FRAME.ping, 0, 0, payload)]));
      }),
    close: () => void socket.destroy(),
  };
};

/**
 * Sends every input on connections of HTTP/2 and counts what became of it. A PING follows each: its answer says that
 * everything before it was read. `input` gets the number of the next stream of its connection.
 */
export const sendFrames = async (options: {
  readonly inputs: number;
  readonly connections: number;
  readonly inputsPerConnectionMax: number;
  open(): Promise<Socket>;
  input(index: number, streamId: number): FrameInput;
}): Promise<FrameTally> => {
  let [next, read, ended, answered] = [0, 0, 0, 0];
  const lane = async (): Promise<void> => {
    while (next < options.inputs) {
      const link = openLink(await options.open());
      let isOpen = true;
      for (
        let sent = 0;
        isOpen && sent < options.inputsPerConnectionMax && next < options.inputs;
        sent += 1
      ) {
        isOpen = await link.send(options.input(next++, 1 + 2 * sent));
        if (isOpen) read += 1;
        else ended += 1;
      }
      answered += link.answered;
      link.close();
    }
  };
  await Promise.all(Array.from({ length: options.connections }, lane));
  return { read, ended, answered };
};
