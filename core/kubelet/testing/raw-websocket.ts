import { randomBytes } from 'node:crypto';
import { Duplex } from 'node:stream';

/** A client's frame: final, binary, masked (RFC 6455, section 5.2). */
const encodeFrame = (payload: Buffer): Buffer => {
  const mask = randomBytes(4);
  const length = payload.length;
  const head =
    length < 126
      ? Buffer.from([0x82, 0x80 | length])
      : Buffer.from([
          0x82,
          0x80 | 127,
          0,
          0,
          0,
          0,
          length >>> 24,
          (length >>> 16) & 255,
          (length >>> 8) & 255,
          length & 255,
        ]);
  return Buffer.concat([head, mask, payload.map((byte, index) => byte ^ mask[index % 4]!)]);
};

/** The payloads of binary messages over a connection that has been upgraded to a WebSocket by hand. */
export const rawWebSocket = (socket: Duplex, head: Buffer): Duplex => {
  let buffer: Buffer = Buffer.alloc(0);
  const duplex = new Duplex({
    read() {
      return;
    },
    write: (chunk: Buffer, _encoding, done) => void socket.write(encodeFrame(chunk), done),
    destroy(error, done) {
      socket.destroy();
      done(error);
    },
  });
  const receive = (chunk: Buffer): void => {
    buffer = Buffer.concat([buffer, chunk]);
    for (;;) {
      if (buffer.length < 2) return;
      const short = buffer[1]! & 0x7f;
      const at = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (buffer.length < at) return;
      const length =
        short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short;
      if (buffer.length < at + length) return;
      if ((buffer[0]! & 0x0f) === 2) duplex.push(buffer.subarray(at, at + length));
      buffer = buffer.subarray(at + length);
    }
  };
  socket.on('data', receive);
  socket.once('close', () => duplex.push(null));
  if (head.length > 0) receive(head);
  return duplex;
};
