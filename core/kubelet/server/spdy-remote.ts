import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import type { TerminalSize } from '../runtimes/runtime.ts';
import { endStream, type RemoteOptions, type RemoteStatus, type RemoteStreams } from './remote-command.ts';
import { SpdyConnection, type SpdyStream } from '../spdy/spdy-connection.ts';

export const SPDY_REMOTE_PROTOCOLS: readonly string[] = [
  'v4.channel.k8s.io',
  'v3.channel.k8s.io',
  'v2.channel.k8s.io',
  'channel.k8s.io',
];

/** As upstream's default. */
export const STREAM_CREATION_TIMEOUT_MS = 30_000;

/** Longer than a size is; what comes before is no size. */
const SIZE_CHARACTERS_MAX = 4_096;

/** JSON objects one after the other: `{"Width":80,"Height":24}`. */
const readSizes = (stream: SpdyStream, listener: (size: TerminalSize) => void): void => {
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text = (text + chunk.toString()).slice(-SIZE_CHARACTERS_MAX);
    for (let end = text.indexOf('}'); end >= 0; end = text.indexOf('}')) {
      const piece = text.slice(0, end + 1);
      text = text.slice(end + 1);
      const size = /"Width"\s*:\s*(\d+)[^}]*"Height"\s*:\s*(\d+)/.exec(piece);
      if (size) listener({ Width: Number(size[1]), Height: Number(size[2]) });
    }
  });
};

export interface SpdyRemoteOptions {
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly protocol: string;
  readonly clock: Clock;
}

/** Waits for the streams that the query announced. Rejects when they do not come in time. */
export const spdyStreams = (wire: SpdyRemoteOptions, options: RemoteOptions): Promise<RemoteStreams> =>
  new Promise((resolve, reject) => {
    const { socket, head, protocol, clock } = wire;
    const canResize = protocol === 'v4.channel.k8s.io' || protocol === 'v3.channel.k8s.io';
    const wanted = new Set(['error']);
    if (options.stdin) wanted.add('stdin');
    if (options.stdout) wanted.add('stdout');
    if (options.stderr) wanted.add('stderr');
    if (options.tty && canResize) wanted.add('resize');
    const streams = new Map<string, SpdyStream>();
    const closers: (() => void)[] = [];
    const timer = clock.after(STREAM_CREATION_TIMEOUT_MS, () => {
      socket.destroy();
      reject(new Error('timed out waiting for client to create streams'));
    });
    const connection = new SpdyConnection(
      socket,
      {
        onStream(stream) {
          const type = stream.headers.get('streamtype') ?? '';
          if (!wanted.has(type) || streams.has(type)) return false;
          streams.set(type, stream);
          if (streams.size === wanted.size) {
            timer.dispose();
            resolve(assemble(connection, streams, closers, protocol));
          }
          return true;
        },
        onClose() {
          timer.dispose();
          for (const close of closers) close();
          reject(new Error('the client hung up before its streams were there'));
        },
      },
      head,
    );
  });

const assemble = (
  connection: SpdyConnection,
  streams: ReadonlyMap<string, SpdyStream>,
  closers: (() => void)[],
  protocol: string,
): RemoteStreams => {
  const stdin = streams.get('stdin');
  const stdout = streams.get('stdout');
  const stderr = streams.get('stderr');
  const error = streams.get('error')!;
  const hasStatus = protocol === 'v4.channel.k8s.io';
  return {
    ...(stdin && { stdin }),
    ...(stdout && { stdout }),
    ...(stderr && { stderr }),
    onResize(listener) {
      const resize = streams.get('resize');
      if (resize) readSizes(resize, listener);
    },
    onClose: (listener) => void closers.push(listener),
    finish(status: RemoteStatus) {
      const text = hasStatus ? JSON.stringify(status) : status.status === 'Success' ? '' : status.message!;
      void Promise.all([endStream(stdout), endStream(stderr), endStream(error, text)]).then(() =>
        connection.close(),
      );
    },
  };
};
