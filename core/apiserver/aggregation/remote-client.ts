import type { IncomingHttpHeaders } from 'node:http';
import type { SecureContextOptions } from 'node:tls';
import { ReasonError } from '../../base/errors.ts';
import { userInfo, type UserInfo } from '../server/user.ts';
import { dialErrorText, DialTimeout } from '../kubelet-proxy/dial-error.ts';
import { ask, hostAndPort, type Backend } from '../kubelet-proxy/forward.ts';
import type { ResolvedEndpoint as Endpoint, ResolveService } from '../webhook/service-resolver.ts';
import type { RemoteApiService } from './api-service.ts';
import { remoteIdentity } from './remote-identity.ts';

/** Who this server is when it asks for itself. Upstream asks with the rights of system:masters, for health and discovery. */
export const AGGREGATOR: UserInfo = userInfo('system:kube-aggregator', ['system:masters']);

const CONNECT_TIMEOUT_MS = 5_000;

export interface RemoteClientOptions {
  readonly resolve: ResolveService;
  /** --proxy-client-cert-file and its key; asked for every connection, so that renewed files are used. */
  readonly identity: () => SecureContextOptions;
}

export interface RemoteAnswer {
  readonly code: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface RemoteQuestion {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly bytesMax: number;
}

/** The way from this server to those that APIServices name. */
export interface RemoteClient {
  /** Fails where the Service has no endpoint that this server may connect to. */
  resolve(service: RemoteApiService): Promise<Endpoint>;
  backend(service: RemoteApiService, endpoint: Endpoint, path: string, user: UserInfo): Backend | undefined;
  /** One bounded answer, for this server's own use. Fails with a ReasonError whose text Go would print. */
  get(service: RemoteApiService, endpoint: Endpoint, question: RemoteQuestion): Promise<RemoteAnswer>;
}

export const urlOf = (endpoint: Endpoint, path: string): string => `https://${hostAndPort(endpoint)}${path}`;

export const createRemoteClient = (options: RemoteClientOptions): RemoteClient => {
  const backend: RemoteClient['backend'] = (service, endpoint, path, user) => {
    const headers = remoteIdentity(user);
    if (headers === undefined) return undefined;
    return {
      ...endpoint,
      path,
      headers,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      tls: {
        ...options.identity(),
        ...(service.caBundle !== '' && { ca: service.caBundle }),
        servername: `${service.service.name}.${service.service.namespace}.svc`,
        rejectUnauthorized: !service.isInsecure,
      },
    };
  };
  return {
    resolve: ({ service }) => options.resolve(service),
    backend,
    async get(service, endpoint, { path, headers = {}, timeoutMs, bytesMax }) {
      const target = backend(service, endpoint, path, AGGREGATOR)!;
      const url = urlOf(endpoint, path);
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(), timeoutMs);
      try {
        const answer = await ask({ request: { method: 'GET', signal: limit.signal } }, target, {
          headers: { ...headers, ...(target.headers as Record<string, string[]>) },
        });
        const chunks: Buffer[] = [];
        let bytes = 0;
        try {
          for await (const chunk of answer) {
            bytes += (chunk as Buffer).byteLength;
            if (bytes > bytesMax)
              throw new ReasonError('TooLarge', `${url} answered more than ${bytesMax} bytes`);
            chunks.push(chunk as Buffer);
          }
        } finally {
          answer.destroy();
        }
        return { code: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(chunks) };
      } catch (error) {
        if (error instanceof ReasonError) throw error;
        const why =
          limit.signal.aborted || error instanceof DialTimeout
            ? 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
            : dialErrorText(endpoint, error);
        throw new ReasonError('Unreachable', `Get "${url}": ${why}`, { cause: error });
      } finally {
        clearTimeout(timer);
      }
    },
  };
};
