import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { messageOf } from '../../base/errors.ts';
import { Connection, type ConnectionEvents } from './connection.ts';
import { describeVerdict, readHelloReply, writeHello, type Hello } from './hello.ts';
import { FRAME } from './frame.ts';
import type { PeerSettings } from './settings.ts';
import { PeerError } from './transport.ts';

const KEEPALIVE_MS = 10_000;

export interface PeerAddress {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
}

export const addressOf = (url: string): PeerAddress => {
  const match = /^(https?):\/\/(\[[^\]]+\]|[^:/]+):(\d+)\/?$/.exec(url);
  if (match === null) throw new PeerError('Unreachable', `${url} is no peer URL`);
  const host = match[2]!;
  return {
    secure: match[1] === 'https',
    host: host.startsWith('[') ? host.slice(1, -1) : host,
    port: Number(match[3]),
  };
};

const openSocket = (url: string, settings: PeerSettings): { socket: Socket; ready: string } => {
  const { secure, host, port } = addressOf(url);
  const { localAddress } = settings;
  const base = {
    host,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEPALIVE_MS,
    ...(localAddress !== undefined && { localAddress }),
  };
  if (!secure) return { socket: connectTcp(base), ready: 'connect' };
  const tls = settings.tls();
  const { cert, key } = tls?.dial ?? tls ?? {};
  const { ca, ciphers, minVersion = 'TLSv1.2', maxVersion = 'TLSv1.3' } = tls ?? { clientCertAuth: false };
  const socket = connectTls({
    ...base,
    ...(isIP(host) === 0 ? { servername: host } : {}),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
    ...(ciphers === undefined ? {} : { ciphers }),
    minVersion,
    maxVersion,
    rejectUnauthorized: tls?.verifyPeers !== false,
  });
  // Unlike net.connect, tls.connect does not look at `noDelay`: a heartbeat would wait 40 ms for an acknowledgement.
  socket.setNoDelay(true);
  return { socket, ready: 'secureConnect' };
};

/** A refusal that this member has to know of, beyond that the connection failed. */
export class RefusedByPeer extends PeerError {
  readonly removed: boolean;

  constructor(message: string, removed: boolean) {
    super('Refused', message);
    this.removed = removed;
  }
}

/**
 * Connects, says hello and waits for the welcome, all within one time limit. Frames after the welcome go to
 * `events`; until then nothing does, and a failure rejects.
 */
export const dial = (
  url: string,
  hello: Hello,
  settings: PeerSettings,
  events: ConnectionEvents,
  signal?: AbortSignal,
): Promise<Connection> =>
  new Promise((resolve, reject) => {
    const { socket, ready } = openSocket(url, settings);
    let welcome = false;
    const fail = (error: PeerError): void => {
      timer.dispose();
      signal?.removeEventListener('abort', aborted);
      socket.destroy();
      reject(error);
    };
    const aborted = (): void => fail(new PeerError('Closed', 'the transport was closed'));
    const timer = settings.clock.after(settings.limits.dialTimeoutMs, () =>
      fail(new PeerError('Timeout', `${url} did not answer in time`)),
    );
    if (signal?.aborted === true) return aborted();
    signal?.addEventListener('abort', aborted);
    const early = (error: Error): void =>
      fail(new PeerError('Unreachable', messageOf(error), { cause: error }));
    socket.on('error', early);
    socket.once(ready, () => {
      socket.off('error', early);
      const connection: Connection = new Connection(socket, settings, {
        onFrame(type, payload) {
          if (welcome) return events.onFrame(type, payload);
          const reply = type === FRAME.helloReply ? readHelloReply(payload) : undefined;
          if (reply?.verdict !== 'welcome') {
            const why = reply === undefined ? 'it does not answer a hello' : describeVerdict(reply, hello);
            return fail(new RefusedByPeer(`${url} refused: ${why}`, reply?.verdict === 'removed'));
          }
          welcome = true;
          timer.dispose();
          signal?.removeEventListener('abort', aborted);
          connection.acceptLargeFrames();
          resolve(connection);
        },
        onClosed: (error) => (welcome ? events.onClosed(error) : fail(error)),
        onTick: () => welcome && events.onTick?.(),
      });
      connection.frame(FRAME.hello, (writer) => writeHello(writer, hello));
    });
  });
