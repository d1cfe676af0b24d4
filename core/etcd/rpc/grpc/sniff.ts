import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Clock } from '../../../base/clock.ts';
import { PREFACE } from '../../../base/node/http2/frame.ts';

/** A connection that says nothing is closed after this long. */
const FIRST_BYTES_TIMEOUT_MS = 10_000;
/** `PRI ` is no method of HTTP/1, so four bytes decide. */
const DECIDING_BYTES = 4;

export interface ProtocolChoice {
  readonly clock: Clock;
  onHttp2(): void;
  onHttp1(): void;
}

/** Which protocol a connection speaks: what ALPN agreed on, else what its first bytes look like. */
export const chooseProtocol = (socket: Socket, choice: ProtocolChoice): void => {
  // Until an owner listens, a reset must not be an unhandled error.
  socket.on('error', () => socket.destroy());
  if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') return choice.onHttp2();
  let seen: Buffer = Buffer.alloc(0);
  const timer = choice.clock.after(FIRST_BYTES_TIMEOUT_MS, () => socket.destroy());
  const onClose = (): void => timer.dispose();
  const onData = (chunk: Buffer): void => {
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk]);
    const known = Math.min(seen.length, DECIDING_BYTES);
    const isHttp2 = seen.compare(PREFACE, 0, known, 0, known) === 0;
    if (isHttp2 && known < DECIDING_BYTES) return;
    timer.dispose();
    socket.off('data', onData);
    socket.off('close', onClose);
    socket.pause();
    socket.unshift(seen);
    if (isHttp2) choice.onHttp2();
    else choice.onHttp1();
    socket.resume();
  };
  socket.on('data', onData);
  socket.once('close', onClose);
};
