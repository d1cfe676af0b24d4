import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { NOBODY, type MemberId } from '../../raft/types.ts';
import type { Message } from '../../raft/messages.ts';
import { ByteReader, malformed } from './bytes.ts';
import { decodeMessage } from './codec.ts';
import { isAllowed } from '../../base/node/certificate-names.ts';
import { Connection, sendAlive } from './connection.ts';
import { FRAME } from './frame.ts';
import { readHello, writeHelloReply, type Hello, type Purpose, type HelloVerdict } from './hello.ts';
import type { RequestHandlers } from './requests.ts';
import type { PeerSettings } from './settings.ts';
import { SnapshotReceiver } from './snapshot-stream.ts';
import { PeerError, type SnapshotHandler } from './transport.ts';

/** What the listener asks the transport about those who dial. */
export interface Host {
  readonly id: MemberId;
  readonly clusterId: bigint;
  readonly settings: PeerSettings;
  readonly requests: RequestHandlers;
  isRemoved(id: MemberId): boolean;
  /** False when there is no room for one more stranger. */
  introduce(hello: Hello): boolean;
  /** Undefined when no snapshot can be taken now. */
  snapshotHandler(): SnapshotHandler | undefined;
  onMessage(message: Message): void;
  onBytes(from: MemberId, bytes: number): void;
  onSnapshotDone(from: MemberId, ok: boolean): void;
  onReceiveFailure(from: MemberId): void;
}

type FrameHandler = (type: number, payload: Buffer) => void;

/** One connection that somebody else dialled, from its hello on. */
export class InboundConnection {
  readonly connection: Connection;
  /** No one until the hello, and for a probe. */
  from: MemberId = NOBODY;
  purpose: Purpose | undefined;
  readonly #host: Host;
  readonly #onClosed: (self: InboundConnection) => void;
  #serve: FrameHandler;
  #afterClose: ((error: PeerError) => void) | undefined;
  #welcome = false;

  constructor(socket: Socket, host: Host, onClosed: (self: InboundConnection) => void) {
    this.#host = host;
    this.#onClosed = onClosed;
    this.#serve = (type, payload) => this.#onHello(type, payload);
    this.connection = new Connection(socket, host.settings, {
      onFrame: (type, payload) => this.#serve(type, payload),
      onClosed: (error) => this.#closed(error),
      onTick: () => this.#stayHeard(),
    });
    const late = host.settings.clock.after(host.settings.limits.dialTimeoutMs, () => {
      if (!this.#welcome) this.connection.close(new PeerError('Timeout', 'no hello in time'));
    });
    socket.once('close', () => late.dispose());
    this.#refuseName(socket);
  }

  #closed(error: PeerError): void {
    this.#afterClose?.(error);
    if (error.reason === 'Malformed') {
      this.#host.onReceiveFailure(this.from);
      this.#host.settings.log.write('warn', 'hung up on a peer that does not speak the protocol', {
        remote: this.connection.remote,
        'peer-id': this.from.toString(16),
        error: error.message,
      });
    }
    this.#onClosed(this);
  }

  /** Anyone who sends messages pings, too, and hears the answers to that; without room for pings it needs another sign. */
  #stayHeard(): void {
    const isAnswered = this.purpose === 'stream' && this.connection.hasSentSinceTick;
    if (this.#welcome && !isAnswered) sendAlive(this.connection);
  }

  /** `--peer-cert-allowed-cn`, `--peer-cert-allowed-hostname` */
  #refuseName(socket: Socket): void {
    const { allowed = {} } = this.#host.settings.tls() ?? {};
    if (!(socket instanceof TLSSocket) || isAllowed(socket.getPeerX509Certificate(), allowed)) return;
    this.#host.settings.log.write('warn', 'rejected a peer whose certificate has no allowed name', {
      remote: this.connection.remote,
      name: String(socket.getPeerCertificate().subject?.CN),
    });
    this.connection.close(new PeerError('Refused', 'the certificate has no allowed name'));
  }

  #onHello(type: number, payload: Buffer): void {
    if (type !== FRAME.hello) throw malformed('something else before its hello');
    const hello = readHello(payload);
    const verdict = hello === 'versionMismatch' ? hello : this.#judge(hello);
    this.connection.frame(FRAME.helloReply, (w) =>
      writeHelloReply(w, { verdict, id: this.#host.id, clusterId: this.#host.clusterId }),
    );
    if (verdict !== 'welcome' || hello === 'versionMismatch') {
      this.#host.settings.log.write('warn', 'refused a peer', {
        remote: this.connection.remote,
        reason: verdict,
        ...(hello === 'versionMismatch'
          ? {}
          : { 'peer-id': hello.from.toString(16), 'peer-cluster-id': hello.clusterId.toString(16) }),
      });
      this.connection.end(new PeerError('Refused', `refused: ${verdict}`));
      return;
    }
    this.#welcome = true;
    this.from = hello.from;
    this.purpose = hello.purpose;
    this.connection.acceptLargeFrames();
    this.#serve = this.#serverFor(hello);
  }

  #judge(hello: Hello): HelloVerdict {
    const host = this.#host;
    if (hello.purpose === 'probe') return 'welcome';
    if (hello.clusterId !== host.clusterId) return 'clusterMismatch';
    if (hello.to !== host.id || hello.from === host.id || hello.from === NOBODY) return 'wrongMember';
    if (host.isRemoved(hello.from)) return 'removed';
    if (hello.purpose === 'snapshot') return host.snapshotHandler() === undefined ? 'busy' : 'welcome';
    return host.introduce(hello) ? 'welcome' : 'busy';
  }

  #serverFor({ purpose, from }: Hello): FrameHandler {
    switch (purpose) {
      case 'stream':
        return this.#streamServer(from);
      case 'probe':
        return this.#probeServer();
      case 'snapshot':
        return this.#snapshotServer(from);
    }
  }

  #streamServer(from: MemberId): FrameHandler {
    const { connection } = this;
    const host = this.#host;
    const serve = host.requests.server(connection, from);
    return (type, payload) => {
      host.onBytes(from, payload.length);
      if (type === FRAME.message) {
        const message = decodeMessage(payload);
        if (message.from !== from || message.to !== host.id) throw malformed('a message that is not its own');
        host.onMessage(message);
      } else if (type === FRAME.ping) {
        const number = new ByteReader(payload).varint();
        const nowMs = Math.max(0, Math.round(host.settings.clock.nowMs()));
        connection.frame(FRAME.pong, (w) => {
          w.varint(number);
          w.varint(nowMs);
        });
      } else if (type === FRAME.request) serve(payload);
      else throw malformed(`frame ${type} in a stream of messages`);
    };
  }

  #probeServer(): FrameHandler {
    const serve = this.#host.requests.server(this.connection, NOBODY);
    return (type, payload) => {
      if (type === FRAME.request) serve(payload);
      else if (type !== FRAME.alive) throw malformed(`frame ${type} in a probe`);
    };
  }

  #snapshotServer(from: MemberId): FrameHandler {
    const handler = this.#host.snapshotHandler();
    if (handler === undefined) throw new PeerError('Refused', 'snapshots are not taken now');
    const receiver = new SnapshotReceiver({
      connection: this.connection,
      from,
      handler,
      onDone: (ok) => this.#host.onSnapshotDone(from, ok),
    });
    this.#afterClose = (error) => receiver.onClosed(error);
    return (type, payload) => {
      this.#host.onBytes(from, payload.length);
      receiver.onFrame(type, payload);
    };
  }
}
