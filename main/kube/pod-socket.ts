import type { ClientRequest, IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import { WebSocket, type RawData } from 'ws';
import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { ClientConfig } from '../../core/client/index.ts';
import { Credentials } from '../../core/client/rest/credentials.ts';
import { endpointOf } from '../../core/client/rest/dial.ts';
import { resourcePath } from './resource-path.ts';

const POD = { group: '', version: 'v1', plural: 'pods' };
const HANDSHAKE_MS = 30_000;
const REFUSAL_CHARACTERS_MAX = 4096;

export interface PodSocketQuery {
  readonly namespace: string;
  readonly pod: string;
  readonly subresource: 'exec' | 'portforward';
  readonly parameters: URLSearchParams;
  readonly protocols: readonly string[];
}

export const bytesOf = (data: RawData): Buffer =>
  Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data);

const addressOf = (config: ClientConfig, query: PodSocketQuery): string => {
  const { url } = endpointOf(config.servers[0] ?? '');
  const base = url.pathname.replace(/\/+$/, '');
  const scheme = url.protocol === 'http:' ? 'ws:' : 'wss:';
  const path = resourcePath(POD, query.namespace, query.pod);
  return `${scheme}//${url.host}${base}${path}/${query.subresource}?${query.parameters}`;
};

/** A WebSocket to a subresource of a pod, with the credentials of the cluster. The caller closes it. */
export const dialPodSocket = async (
  config: ClientConfig,
  query: PodSocketQuery,
  clock: Clock,
  signal: AbortSignal,
): Promise<WebSocket> => {
  const credentials = new Credentials(config, clock);
  const { authority, certificate, key } = await credentials.tls(signal);
  const name = config.tlsServerName ?? endpointOf(config.servers[0] ?? '').host;
  return new WebSocket(addressOf(config, query), [...query.protocols], {
    handshakeTimeout: HANDSHAKE_MS,
    perMessageDeflate: false,
    headers: { ...(await credentials.headers(signal)) },
    rejectUnauthorized: config.insecureSkipTlsVerify !== true,
    ...(isIP(name) === 0 && { servername: name }),
    checkServerIdentity: ((_host: string, peer: Parameters<typeof checkServerIdentity>[1]) =>
      checkServerIdentity(name, peer)) as never,
    ...(authority !== undefined && { ca: authority }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
  });
};

/** What the server answered in place of an upgrade: the words of its Status, or its plain text. */
export const refusalText = (text: string): string => {
  try {
    const status: unknown = JSON.parse(text);
    return isJsonObject(status) && typeof status['message'] === 'string' ? status['message'] : text;
  } catch {
    return text; // kubelets answer in plain text
  }
};

/** Reads the answer to an upgrade that was refused, then ends the request. */
export const onRefused = (socket: WebSocket, tell: (text: string) => void): void => {
  socket.on('unexpected-response', (request: ClientRequest, response: IncomingMessage) => {
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => (text = (text + chunk).slice(0, REFUSAL_CHARACTERS_MAX)));
    response.on('end', () => {
      tell(text.trim() === '' ? `the server returned ${response.statusCode ?? 'no response'}` : text.trim());
      request.destroy();
    });
  });
};
