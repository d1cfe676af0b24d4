import { Readable, Writable } from 'node:stream';
import type { RawData, WebSocket } from 'ws';
import type { TerminalSize } from '../runtimes/runtime.ts';
import { endStream, type RemoteOptions, type RemoteStatus, type RemoteStreams } from './remote-command.ts';

/** In the order of preference. `base64` variants are for browsers that cannot send bytes. */
export const WEBSOCKET_REMOTE_PROTOCOLS: readonly string[] = [
  'v5.channel.k8s.io',
  'v4.channel.k8s.io',
  'v4.base64.channel.k8s.io',
  'channel.k8s.io',
  'base64.channel.k8s.io',
];

const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const ERROR = 3;
const RESIZE = 4;
/** v5 only: the channel in the next byte has ended. */
const CLOSE = 255;
const NORMAL_CLOSURE = 1000;
export const MESSAGE_BYTES_MAX = 1024 * 1024;

export const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);

const parseSize = (payload: Buffer): TerminalSize | undefined => {
  try {
    const value = JSON.parse(payload.toString()) as Partial<TerminalSize> | null;
    const isSize = typeof value?.Width === 'number' && typeof value.Height === 'number';
    return isSize ? { Width: value.Width!, Height: value.Height! } : undefined;
  } catch {
    return undefined;
  }
};

/** The channels of a WebSocket as streams: the first byte of each message says which. */
export const websocketStreams = (socket: WebSocket, options: RemoteOptions): RemoteStreams => {
  const isBase64 = socket.protocol.includes('base64');
  const hasStatus = /^v[45]\./.test(socket.protocol);
  const resizes: TerminalSize[] = [];
  // Before the session has begun only the last size counts.
  let onResize: (size: TerminalSize) => void = (size) => void (resizes[0] = size);
  let isStdinEnded = false;

  const send = (channel: number, payload: Buffer, done: () => void = () => undefined): void => {
    if (socket.readyState !== socket.OPEN) return done();
    if (isBase64) socket.send(`${channel}${payload.toString('base64')}`, done);
    else socket.send(Buffer.concat([Buffer.from([channel]), payload]), { binary: true }, done);
  };
  const output = (channel: number): Writable =>
    new Writable({ write: (chunk: Buffer, _encoding, done) => send(channel, chunk, () => done()) }).on(
      'error',
      () => undefined,
    );

  const stdin = options.stdin
    ? new Readable({
        read() {
          socket.resume();
        },
      })
    : undefined;
  stdin?.on('error', () => undefined);
  const stdout = options.stdout ? output(STDOUT) : undefined;
  const stderr = options.stderr ? output(STDERR) : undefined;

  const receive = (channel: number, payload: Buffer): void => {
    if (channel === STDIN && stdin && !isStdinEnded && payload.length > 0) {
      if (!stdin.push(payload)) socket.pause();
    } else if (channel === RESIZE) {
      const size = parseSize(payload);
      if (size) onResize(size);
    } else if (channel === CLOSE && payload[0] === STDIN && !isStdinEnded) {
      isStdinEnded = true;
      stdin?.push(null);
    }
  };
  socket.on('message', (data, isBinary) => {
    const bytes = bytesOf(data);
    if (bytes.length === 0) return;
    if (isBase64 || !isBinary) {
      const channel = bytes[0]! - '0'.charCodeAt(0);
      const body = bytes.subarray(1).toString();
      receive(channel, isBase64 ? Buffer.from(body, 'base64') : Buffer.from(body));
    } else receive(bytes[0]!, bytes.subarray(1));
  });
  socket.on('error', () => socket.terminate());
  socket.once('close', () => stdin?.destroy());
  // Upstream sends an empty message on each output first, so that clients know the channels are there.
  if (options.stdout) send(STDOUT, Buffer.alloc(0));
  if (options.stderr) send(STDERR, Buffer.alloc(0));

  return {
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
    ...(stderr && { stderr }),
    onResize(listener) {
      onResize = listener;
      for (const size of resizes.splice(0)) listener(size);
    },
    onClose: (listener) => void socket.once('close', listener),
    finish(status: RemoteStatus) {
      const payload = hasStatus ? JSON.stringify(status) : status.status === 'Success' ? '' : status.message!;
      void Promise.all([endStream(stdout), endStream(stderr)]).then(() =>
        send(ERROR, Buffer.from(payload), () => socket.close(NORMAL_CLOSURE)),
      );
    },
  };
};
