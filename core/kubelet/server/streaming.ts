import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { KubeletNode } from '../node/kubelet-node.ts';
import type { RunningContainer } from '../runtimes/runtime.ts';
import { isRunning } from '../containers/container-record.ts';
import type { PodEntry } from '../sync/pod-entry.ts';
import { parsePort, type ForwardTarget } from './port-forward.ts';
import { remoteOptions, serveRemote } from './remote-command.ts';
import { PORT_FORWARD_PROTOCOL, servePortForward } from './spdy-port-forward.ts';
import { segmentsOf } from './request-url.ts';
import { StreamingError } from './streaming-error.ts';
import { SPDY_REMOTE_PROTOCOLS, spdyStreams } from './spdy-remote.ts';
import { acceptSpdy, isSpdyRequest, isWebSocketRequest, refuseUpgrade } from './upgrade.ts';
import {
  CHANNEL_FORWARD_PROTOCOLS,
  serveChannelForward,
  TUNNEL_PROTOCOL,
  websocketDuplex,
} from './websocket-port-forward.ts';
import { MESSAGE_BYTES_MAX, WEBSOCKET_REMOTE_PROTOCOLS, websocketStreams } from './websocket-remote.ts';

export interface StreamingRequest {
  readonly node: KubeletNode;
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly socket: Duplex;
  readonly head: Buffer;
}

export const podOf = (node: KubeletNode, namespace: string, name: string): PodEntry => {
  const entry = node.find(namespace, name);
  if (!entry) throw new StreamingError('NotFound', 'pod does not exist');
  return entry;
};

/** The running container that a path names. */
export const containerOf = (entry: PodEntry, name: string): RunningContainer => {
  const record = entry.worker?.records.find(({ spec }) => spec.name === name);
  if (!record) throw new StreamingError('NotFound', `container not found ("${name}")`);
  if (!isRunning(record)) throw new StreamingError('Internal', `container ${name} is not running`);
  return record.current!.container;
};

const forwardTargetOf = (entry: PodEntry): ForwardTarget => {
  const { worker } = entry;
  if (!worker?.sandbox)
    throw new StreamingError('Internal', 'unable to do port forwarding: the pod is not running');
  return {
    podName: entry.pod.metadata?.name ?? '',
    uid: entry.apiPod?.metadata.uid ?? entry.pod.metadata?.uid ?? '',
    dial: (port) => worker.sandbox?.dial(port) ?? Promise.reject(new Error('the pod has stopped')),
  };
};

/**
 * `SPDY/3.1+portforward.k8s.io` is no token as RFC 6455 needs a subprotocol to be, and the library refuses it. It is
 * known under a name of ours between the request and the answer.
 */
const TUNNEL_ALIAS = 'spdy-3.1-portforward.k8s.io';

const aliasTunnel = (request: IncomingMessage): void => {
  const offered = request.headers['sec-websocket-protocol'];
  if (offered !== undefined)
    request.headers['sec-websocket-protocol'] = offered.replaceAll(TUNNEL_PROTOCOL, TUNNEL_ALIAS);
};

const socketServer = (protocols: readonly string[]): WebSocketServer => {
  const server = new WebSocketServer({
    noServer: true,
    maxPayload: MESSAGE_BYTES_MAX,
    handleProtocols: (offered) => protocols.find((protocol) => offered.has(protocol)) ?? false,
  });
  server.on('headers', (headers) => {
    for (const [index, line] of headers.entries())
      headers[index] = line.replace(TUNNEL_ALIAS, TUNNEL_PROTOCOL);
  });
  return server;
};

/** Two channels a port, and a channel is a byte; the last one is not used. */
const FORWARDED_PORTS_MAX = 127;

/** Upstream's default of streamingConnectionIdleTimeout. */
export const STREAM_IDLE_MS_MAX = 4 * 60 * 60 * 1000;

/** `/exec`, `/attach` and `/portForward` over WebSocket and SPDY. */
export class Streaming {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #remote = socketServer(WEBSOCKET_REMOTE_PROTOCOLS);
  readonly #forward = socketServer([TUNNEL_ALIAS, ...CHANNEL_FORWARD_PROTOCOLS]);

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Takes the connection over; false when the path is not one of these. */
  handle(request: StreamingRequest): boolean {
    try {
      const [, action, namespace = '', name = '', ...rest] = segmentsOf(request.url.pathname);
      if (action === 'portForward') this.#portForward(request, podOf(request.node, namespace, name));
      else if (action === 'exec' || action === 'attach') {
        const container = containerOf(podOf(request.node, namespace, name), rest.at(-1) ?? '');
        this.#remoteCommand(request, container, action === 'exec');
      } else return false;
      // After the upgrade, which turns the timeout of the socket off. Data in either direction starts it again.
      const { socket } = request;
      if (socket instanceof Socket) socket.setTimeout(STREAM_IDLE_MS_MAX, () => socket.destroy());
    } catch (error) {
      if (!(error instanceof StreamingError)) throw error;
      refuseUpgrade(request.socket, error.code, error.message);
    }
    return true;
  }

  close(): void {
    for (const server of [this.#remote, this.#forward])
      for (const client of server.clients) client.terminate();
  }

  #remoteCommand(request: StreamingRequest, container: RunningContainer, isExec: boolean): void {
    const options = remoteOptions(request.url.searchParams);
    if (!options)
      throw new StreamingError('BadRequest', 'you must specify at least 1 of stdin, stdout, stderr');
    const command = isExec ? request.url.searchParams.getAll('command') : undefined;
    if (command?.length === 0)
      throw new StreamingError('BadRequest', 'you must specify at least one command');
    if (isWebSocketRequest(request.request)) {
      this.#upgrade(this.#remote, request, (socket) => {
        this.#watch(serveRemote(container, command, options, websocketStreams(socket, options)));
      });
      return;
    }
    this.#requireSpdy(request);
    const protocol = acceptSpdy(request.request, request.socket, SPDY_REMOTE_PROTOCOLS);
    if (protocol === undefined) return;
    const wire = { socket: request.socket, head: request.head, protocol, clock: this.#clock };
    this.#watch(
      spdyStreams(wire, options).then((streams) => serveRemote(container, command, options, streams)),
    );
  }

  #portForward(request: StreamingRequest, entry: PodEntry): void {
    const target = forwardTargetOf(entry);
    if (isWebSocketRequest(request.request)) {
      const ports = request.url.searchParams.getAll('port').map(parsePort);
      if (ports.length > FORWARDED_PORTS_MAX) throw new StreamingError('BadRequest', 'too many ports');
      this.#upgrade(this.#forward, request, (socket) => {
        if (socket.protocol === TUNNEL_ALIAS)
          servePortForward(websocketDuplex(socket), Buffer.alloc(0), target, this.#clock);
        else if (ports.length === 0 || ports.includes(undefined))
          socket.close(1002, 'query parameter "port" is required');
        else serveChannelForward(socket, ports as number[], target);
      });
      return;
    }
    this.#requireSpdy(request);
    if (acceptSpdy(request.request, request.socket, [PORT_FORWARD_PROTOCOL]) === undefined) return;
    servePortForward(request.socket, request.head, target, this.#clock);
  }

  #requireSpdy({ request }: StreamingRequest): void {
    if (!isSpdyRequest(request))
      throw new StreamingError(
        'BadRequest',
        `unable to upgrade: missing upgrade headers in request: ${request.headers.upgrade ?? ''}`,
      );
  }

  #upgrade(server: WebSocketServer, request: StreamingRequest, serve: (socket: WebSocket) => void): void {
    aliasTunnel(request.request);
    server.handleUpgrade(request.request, request.socket, request.head, (socket) => {
      // Frames that are none reach it also when nothing serves it any more.
      socket.on('error', () => socket.terminate());
      try {
        serve(socket);
      } catch (error) {
        this.#log.write('warn', 'a stream could not be served', { error: messageOf(error) });
        socket.terminate();
      }
    });
  }

  #watch(work: Promise<void>): void {
    work.catch((error: unknown) =>
      this.#log.write('warn', 'a stream ended badly', { error: messageOf(error) }),
    );
  }
}
