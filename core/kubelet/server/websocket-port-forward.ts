import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { forwardPort, type ForwardTarget } from './port-forward.ts';
import { bytesOf } from './websocket-remote.ts';

/** SPDY frames inside a WebSocket, as kubectl 1.31 and newer sends them. */
export const TUNNEL_PROTOCOL = 'SPDY/3.1+portforward.k8s.io';
export const CHANNEL_FORWARD_PROTOCOLS: readonly string[] = ['v4.channel.k8s.io', 'portforward.k8s.io'];

/** A WebSocket as the byte stream that is tunnelled in it. */
export const websocketDuplex = (socket: WebSocket): Duplex => {
  const duplex = new Duplex({
    read() {
      socket.resume();
    },
    write(chunk: Buffer, _encoding, done) {
      if (socket.readyState === socket.OPEN) socket.send(chunk, { binary: true }, done);
      else done();
    },
    final(done) {
      socket.close(1000);
      done();
    },
    destroy(error, done) {
      socket.terminate();
      done(error);
    },
  });
  socket.on('message', (data) => {
    if (!duplex.push(bytesOf(data))) socket.pause();
  });
  socket.once('close', () => duplex.push(null));
  socket.on('error', (error) => duplex.destroy(error));
  duplex.on('error', () => undefined);
  return duplex;
};

/**
 * The older protocol without SPDY: for the n-th port of the query, channel 2n carries data and 2n+1 errors; each
 * begins with a message that holds the port in two bytes, low byte first.
 */
export const serveChannelForward = (
  socket: WebSocket,
  ports: readonly number[],
  target: ForwardTarget,
): void => {
  const send = (channel: number, payload: Buffer, done: () => void = () => undefined): void => {
    if (socket.readyState !== socket.OPEN) return done();
    socket.send(Buffer.concat([Buffer.from([channel]), payload]), { binary: true }, done);
  };
  let openCount = ports.length;
  const streams = ports.map((port, index) => {
    const stream = new Duplex({
      read() {
        socket.resume();
      },
      write: (chunk: Buffer, _encoding, done) => send(2 * index, chunk, done),
    });
    stream.on('error', () => undefined);
    const announcement = Buffer.alloc(2);
    announcement.writeUInt16LE(port);
    send(2 * index, announcement);
    send(2 * index + 1, announcement);
    void forwardPort(target, port, stream).then((failure) => {
      if (failure !== undefined) send(2 * index + 1, Buffer.from(failure));
      openCount -= 1;
      // The protocol has no end of a channel: the end of the last port is the end of the socket.
      if (openCount === 0) socket.close(1000);
    });
    return stream;
  });
  socket.on('message', (data) => {
    const bytes = bytesOf(data);
    const channel = bytes[0] ?? 255;
    const stream = channel % 2 === 0 ? streams[channel / 2] : undefined;
    if (stream && bytes.length > 1 && !stream.push(bytes.subarray(1))) socket.pause();
  });
  socket.on('error', () => socket.terminate());
  socket.once('close', () => streams.forEach((stream) => stream.destroy()));
};
