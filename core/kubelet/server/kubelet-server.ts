import type { IncomingMessage, ServerResponse } from 'node:http';
import https from 'node:https';
import net, { type Socket } from 'node:net';
import { Writable } from 'node:stream';
import type { Duplex } from 'node:stream';
import type { Clock } from '../../base/clock.ts';
import { formatDuration } from '../../base/duration.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { EXPOSITION_CONTENT_TYPE, type Registry } from '../../base/metrics/index.ts';
import { http1Acceptor } from '../../base/node/http1-acceptor.ts';
import { Strangers } from '../../base/node/strangers.ts';
import { tlsSettings } from '../../base/node/tls-settings.ts';
import type { KubeletNode } from '../node/kubelet-node.ts';
import { attributesOf, authenticate, type KubeletAuth } from './auth.ts';
import { LogRequestError, logOf, logOptions, writeLog } from './container-logs.ts';
import { resourceMetrics, statsSummary } from './stats.ts';
import { StreamingError } from './streaming-error.ts';
import { containerOf, podOf, Streaming, STREAM_IDLE_MS_MAX } from './streaming.ts';
import { segmentsOf, urlOf } from './request-url.ts';
import { refuseUpgrade } from './upgrade.ts';

export interface KubeletServerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly registry: Registry;
  /** Serving certificate and key, and the authority of clients, as PEM. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string };
  /** Upstream's --event-qps and --event-burst; a rate of 0 is no limit. */
  readonly eventRate: { readonly qps: number; readonly burst: number };
  /** Who may do what, as the API tells the node that is asked. */
  auth(nodeName: string): KubeletAuth;
  /** Which node answers at an address; many nodes may share one server. */
  nodeAt(localAddress: string): KubeletNode | undefined;
}

/** Also of every renewal: a new context starts from Node's defaults. */
const TLS_SETTINGS = tlsSettings();
const OUTPUT_BYTES_MAX = 1024 * 1024;
const HEADERS_TIMEOUT_MS = 30_000;
/** Of one address; logs that are followed, shells and forwarded ports hold one each. */
const CONNECTIONS_MAX = 1_024;
/** Of all addresses, without a client certificate of this cluster: past it the oldest is closed. */
const STRANGERS_MAX = 256;
const HANDSHAKE_TIMEOUT_MS = 10_000;
/** Reads that tell nothing but whether it lives. */
const OPEN_PATHS = new Set(['/healthz', '/healthz/ping']);

const answer = (response: ServerResponse, code: number, type: string, body: string): void => {
  response.writeHead(code, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
};
const plain = (response: ServerResponse, code: number, text: string): void =>
  answer(response, code, 'text/plain; charset=utf-8', text);
const json = (response: ServerResponse, value: unknown): void =>
  answer(response, 200, 'application/json', JSON.stringify(value));

/** The configuration in use, as upstream's `/configz` names it, as far as this kubelet has it. */
const configurationOf = ({ eventRate }: KubeletServerOptions): object => ({
  kind: 'KubeletConfiguration',
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  authentication: { anonymous: { enabled: false }, webhook: { enabled: true } },
  authorization: { mode: 'Webhook' },
  eventRecordQPS: eventRate.qps,
  eventBurst: eventRate.burst,
  readOnlyPort: 0,
  streamingConnectionIdleTimeout: formatDuration(STREAM_IDLE_MS_MAX),
});

interface Exchange {
  readonly node: KubeletNode;
  readonly url: URL;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Port 10250: HTTPS with client certificates, one TLS server behind any number of listening addresses. */
export class KubeletServer {
  readonly #options: KubeletServerOptions;
  readonly #server: https.Server;
  readonly #streaming: Streaming;
  readonly #strangers = new Strangers(STRANGERS_MAX);
  readonly #accept: (socket: Socket) => void;
  readonly #listeners: net.Server[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #startedMs: number;

  constructor(options: KubeletServerOptions) {
    const { tls, clock, log } = options;
    this.#options = options;
    this.#startedMs = clock.nowMs();
    this.#streaming = new Streaming(clock, log);
    this.#server = https.createServer({
      ...TLS_SETTINGS,
      cert: tls.cert,
      key: tls.key,
      ca: tls.clientCa,
      requestCert: true,
      // Tokens are the other way in; who has neither is refused by the pipeline, with an answer.
      rejectUnauthorized: false,
      headersTimeout: HEADERS_TIMEOUT_MS,
      handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    });
    this.#accept = http1Acceptor(this.#server);
    this.#server.on('secureConnection', (socket) => {
      if (socket.authorized) this.#strangers.recognize(socket);
    });
    this.#server.on('request', (request, response) => void this.#serve(request, response));
    this.#server.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
    this.#server.on('tlsClientError', (error) =>
      log.write('debug', 'TLS handshake failed', { error: messageOf(error) }),
    );
  }

  /** Listens on one more address; the port that was bound. */
  listen(address: { readonly host: string; readonly port: number }): Promise<number> {
    const listener = net.createServer((socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.once('close', () => this.#sockets.delete(socket));
      this.#strangers.add(socket);
      this.#accept(socket);
    });
    return new Promise((resolve, reject) => {
      listener.once('error', reject);
      listener.maxConnections = CONNECTIONS_MAX;
      listener.listen({ ...address, exclusive: true }, () => {
        listener.off('error', reject);
        // A connection that could not be accepted, for want of file descriptors: the next one may be.
        listener.on('error', (error) =>
          this.#options.log.write('warn', 'could not accept a connection', { error: messageOf(error) }),
        );
        this.#listeners.push(listener);
        resolve((listener.address() as net.AddressInfo).port);
      });
    });
  }

  /** New certificates for connections from now on. */
  setTls(tls: KubeletServerOptions['tls']): void {
    this.#server.setSecureContext({ ...TLS_SETTINGS, cert: tls.cert, key: tls.key, ca: tls.clientCa });
  }

  async close(): Promise<void> {
    this.#streaming.close();
    const closed = this.#listeners.map((listener) => new Promise((resolve) => listener.close(resolve)));
    for (const socket of this.#sockets) socket.destroy();
    await Promise.all(closed);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const checked = await this.#check(request);
      if ('code' in checked) return plain(response, checked.code, checked.message);
      await this.#route({ ...checked, request, response });
    } catch (error) {
      if (response.headersSent || response.destroyed) response.destroy();
      else if (error instanceof StreamingError) plain(response, error.code, error.message);
      else if (error instanceof LogRequestError)
        plain(response, error.reason === 'Invalid' ? 422 : 400, error.message);
      else {
        this.#options.log.write('error', 'request failed', { path: request.url, error: messageOf(error) });
        plain(response, 500, messageOf(error));
      }
    }
  }

  async #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on('error', () => socket.destroy());
    try {
      const checked = await this.#check(request);
      if ('code' in checked) return refuseUpgrade(socket, checked.code, checked.message);
      const isHandled = this.#streaming.handle({ ...checked, request, socket, head });
      if (!isHandled) refuseUpgrade(socket, 404, 'page not found');
    } catch (error) {
      refuseUpgrade(socket, 500, messageOf(error));
    }
  }

  async #check(
    request: IncomingMessage,
  ): Promise<{ node: KubeletNode; url: URL } | { code: number; message: string }> {
    const url = urlOf(request);
    if (!url) return { code: 400, message: 'the path of the request is malformed' };
    const node = this.#options.nodeAt(request.socket.localAddress ?? '');
    if (!node) return { code: 404, message: 'no node has this address' };
    if (OPEN_PATHS.has(url.pathname)) return { node, url };
    const auth = this.#options.auth(node.name);
    const user = await authenticate(request, auth);
    if (!user) return { code: 401, message: 'Unauthorized' };
    const attributes = attributesOf(request.method ?? '', url.pathname, node.name);
    if (await auth.isAllowed(user, attributes)) return { node, url };
    const { verb, subresources } = attributes;
    return {
      code: 403,
      message: `Forbidden (user=${user.name}, verb=${verb}, resource=nodes, subresource(s)=[${subresources.join(' ')}])`,
    };
  }

  async #route(exchange: Exchange): Promise<void> {
    const { node, url, response, request } = exchange;
    const { clock, registry } = this.#options;
    const path = url.pathname.replace(/(.)\/$/, '$1');
    switch (path) {
      case '/healthz':
      case '/healthz/ping':
      case '/healthz/syncloop':
        return plain(response, 200, 'ok');
      case '/pods':
      case '/runningpods':
        return json(response, podList(node, path === '/runningpods'));
      case '/configz':
        return json(response, { kubeletconfig: configurationOf(this.#options) });
      case '/metrics':
        return answer(response, 200, EXPOSITION_CONTENT_TYPE, registry.expose());
      case '/metrics/resource':
        return answer(response, 200, EXPOSITION_CONTENT_TYPE, await resourceMetrics(node, clock.nowMs()));
      case '/stats/summary':
        return json(response, await statsSummary(node, this.#startedMs, clock.nowMs()));
      default:
        break;
    }
    const [, action, ...parts] = segmentsOf(path);
    if (action === 'containerLogs' && request.method === 'GET') return this.#logs(exchange, parts);
    if (action === 'run' && request.method === 'POST') return this.#run(exchange, parts);
    if (['exec', 'attach', 'portForward'].includes(action ?? ''))
      return plain(response, 400, 'unable to upgrade: missing upgrade headers in request');
    return plain(response, 404, '404 page not found');
  }

  async #logs({ node, url, response }: Exchange, parts: readonly string[]): Promise<void> {
    const [namespace = '', podName = '', containerName = ''] = parts;
    const options = logOptions(url.searchParams, this.#options.clock.nowMs());
    const entry = node.find(namespace, podName);
    if (!entry) return plain(response, 404, `pod "${podName}" does not exist`);
    const record = entry.worker?.records.find(({ spec }) => spec.name === containerName);
    if (!record) return plain(response, 404, `container "${containerName}" not found in pod "${podName}"`);
    const log = logOf(record, podName, options.previous);
    response.writeHead(200, { 'Content-Type': 'text/plain; charset=utf-8' });
    // A follower must see that it is connected before the first line comes.
    response.flushHeaders();
    await writeLog(log, options, response);
    response.end();
  }

  async #run({ node, url, response }: Exchange, parts: readonly string[]): Promise<void> {
    const [namespace = '', podName = '', ...rest] = parts;
    const container = containerOf(podOf(node, namespace, podName), rest.at(-1) ?? '');
    const chunks: Buffer[] = [];
    let size = 0;
    const output = new Writable({
      write(chunk: Buffer, _encoding, done) {
        size += chunk.length;
        if (size <= OUTPUT_BYTES_MAX) chunks.push(chunk);
        done();
      },
    });
    const command = (url.searchParams.get('cmd') ?? '').split(' ');
    const session = await container.exec({ command, tty: false, stdout: output, stderr: output });
    response.once('close', () => session.kill());
    const exitCode = await session.exitCode;
    const text = Buffer.concat(chunks).toString();
    if (exitCode === 0) answer(response, 200, 'application/json', text);
    else plain(response, 500, `command terminated with exit code ${exitCode}: ${text}`);
  }
}

const podList = (node: KubeletNode, onlyRunning: boolean): unknown => ({
  kind: 'PodList',
  apiVersion: 'v1',
  metadata: {},
  items: node
    .entries()
    .filter((entry) => !onlyRunning || entry.isActive)
    .map((entry) => ({ ...entry.pod, status: entry.wanted() ?? entry.pod.status })),
});
