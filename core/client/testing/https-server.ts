import { createSecureServer, type Http2SecureServer, type ServerHttp2Session } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { systemClock } from '../../base/node/clock.ts';
import {
  alternativeNames,
  createAuthority,
  issueLeaf,
  openAuthority,
  type Credential,
} from '../../pki/index.ts';
import type { ClientConfig } from '../rest/config.ts';

export type AnyRequest = IncomingMessage | Http2ServerRequest;
export type AnyResponse = (ServerResponse | Http2ServerResponse) & { end(text?: string): unknown };

export interface TestAuthority {
  readonly root: Credential;
  server(...hosts: string[]): Credential;
  client(name: string): Credential;
}

export const testAuthority = (): TestAuthority => {
  const root = createAuthority({ commonName: 'test', clock: systemClock });
  const leaf = (commonName: string, hosts: readonly string[]): Credential =>
    issueLeaf(openAuthority(root), {
      subject: { commonName },
      usages: ['server', 'client'],
      alternativeNames: alternativeNames(hosts),
      clock: systemClock,
    });
  return { root, server: (...hosts) => leaf('server', hosts), client: (name) => leaf(name, []) };
};

export interface TestServer {
  readonly port: number;
  readonly url: string;
  readonly sessions: Set<ServerHttp2Session>;
  readonly connectionsCount: number;
  config(more?: Partial<ClientConfig>): ClientConfig;
  close(): Promise<void>;
}

export interface TestServerOptions {
  readonly authority: TestAuthority;
  readonly http2?: boolean;
  readonly streamsMax?: number;
  readonly hosts?: readonly string[];
  handle(request: AnyRequest, response: AnyResponse): void;
}

/** A real server on loopback, for tests of what is between a client and the wire. */
export const startServer = async (options: TestServerOptions): Promise<TestServer> => {
  const { authority, hosts = ['127.0.0.1'] } = options;
  const credential = authority.server(...hosts);
  const tls = {
    key: credential.privateKeyPem,
    cert: credential.certificatePem,
    ca: authority.root.certificatePem,
    requestCert: true,
    rejectUnauthorized: false,
  };
  const handle = options.handle as (request: unknown, response: unknown) => void;
  const server =
    options.http2 === false
      ? createHttpsServer(tls, handle)
      : createSecureServer(
          { ...tls, settings: { ...(options.streamsMax && { maxConcurrentStreams: options.streamsMax }) } },
          handle,
        );
  const sessions = new Set<ServerHttp2Session>();
  const sockets = new Set<Socket>();
  let connectionsCount = 0;
  server.on('secureConnection', (socket: Socket) => {
    connectionsCount += 1;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  (server as Http2SecureServer).on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;
  return {
    port,
    url,
    sessions,
    get connectionsCount() {
      return connectionsCount;
    },
    config: (more) => ({
      servers: [url],
      authority: { data: authority.root.certificatePem },
      auth: {},
      namespace: 'default',
      ...more,
    }),
    async close() {
      for (const session of sessions) session.destroy();
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

export const peerNameOf = (request: AnyRequest): string => {
  const socket = request.socket as TLSSocket;
  return String(socket.getPeerCertificate().subject?.CN ?? '');
};

export const answerJson = (response: AnyResponse, body: unknown, code = 200): void => {
  response.statusCode = code;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(body));
};
