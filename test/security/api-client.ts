import { Agent, request as httpsRequest } from 'node:https';
import { readFile } from 'node:fs/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { systemClock } from '../../core/base/node/clock.ts';
import {
  issueLeaf,
  kubeconfigPath,
  loadAuthority,
  readKubeconfig,
  type Authority,
  type Credential,
} from '../../core/pki/index.ts';

/** A request that a server has refused. */
export interface Denied {
  readonly auditId: string;
  readonly method: string;
  readonly path: string;
  readonly code: number;
}

/** How a request is made: a certificate, a token, both, or nothing. */
export interface Identity {
  readonly credential?: Credential;
  readonly token?: string;
}

export interface ApiAnswer {
  readonly code: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface ApiAsk extends Identity {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: unknown;
}

export interface AttackedApi {
  readonly host: string;
  readonly port: number;
  readonly ca: string;
  readonly admin: Identity;
  /** The authority of client certificates. */
  readonly authority: Authority;
  /** A client certificate of the cluster's own authority. */
  identity(commonName: string, organizations?: readonly string[]): Identity;
  ask(ask: ApiAsk): Promise<ApiAnswer>;
  /** The answer's JSON; throws unless it has one of the codes. */
  json(ask: ApiAsk, ...codes: readonly number[]): Promise<Record<string, unknown>>;
  /** Every attempt of this file so far that was answered with 401 or 403. */
  readonly denied: readonly Denied[];
  /** Bytes on a TLS connection to the API server, with nothing in between. */
  dial(protocol: 'h2' | 'http/1.1', identity?: Identity): Promise<TLSSocket>;
}

const certificateOf = ({ credential }: Identity): { cert?: string; key?: string } =>
  credential ? { cert: credential.certificatePem, key: credential.privateKeyPem } : {};

/** Connections are kept by certificate: many requests of one identity are one handshake. */
const SOCKETS_MAX = 4;
const agent = new Agent({ keepAlive: true, maxSockets: SOCKETS_MAX });

/** The API of the cluster in a data directory, as an attacker with any identity sees it. */
export const attackedApi = async (data: string): Promise<AttackedApi> => {
  const file = kubeconfigPath(data, 'admin.conf');
  const { server, authorityPem: ca, credential } = readKubeconfig(await readFile(file, 'utf8'), file);
  const authority = await loadAuthority(data, 'kubernetes');
  const { hostname: host, port: portText } = new URL(server);
  const port = Number(portText);
  const denied: Denied[] = [];
  const ask = (asked: ApiAsk): Promise<ApiAnswer> =>
    new Promise((resolve, reject) => {
      const { method = 'GET', path, token, body } = asked;
      const headers: Record<string, string | string[]> = { ...asked.headers };
      if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
      if (body !== undefined) headers['content-type'] ??= 'application/json';
      const sending = httpsRequest(
        { host, port, path, method, headers, ca, agent, ...certificateOf(asked) },
        (message) => {
          const chunks: Buffer[] = [];
          message.on('data', (chunk: Buffer) => chunks.push(chunk));
          message.on('end', () => {
            const code = message.statusCode ?? 0;
            const auditId = message.headers['audit-id'];
            if ((code === 401 || code === 403) && typeof auditId === 'string')
              denied.push({ auditId, method, path, code });
            resolve({
              code,
              headers: message.headers,
              text: Buffer.concat(chunks).toString('utf8'),
            });
          });
          message.on('error', reject);
        },
      );
      sending.on('error', reject);
      sending.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
    });
  return {
    host,
    port,
    ca,
    admin: { credential },
    authority,
    denied,
    identity: (commonName, organizations = []) => ({
      credential: issueLeaf(authority, {
        subject: { commonName, organizations },
        usages: ['client'],
        clock: systemClock,
      }),
    }),
    ask,
    async json(asked, ...codes) {
      const { code, text } = await ask(asked);
      if (!codes.includes(code))
        throw new Error(`${asked.method ?? 'GET'} ${asked.path} was answered with ${code}: ${text}`);
      return JSON.parse(text) as Record<string, unknown>;
    },
    dial: (protocol, identity = {}) =>
      new Promise((resolve, reject) => {
        const socket = connectTls(
          { host, port, ca, ALPNProtocols: [protocol], ...certificateOf(identity) },
          () => {
            socket.off('error', reject);
            resolve(socket);
          },
        );
        socket.once('error', reject);
      }),
  };
};

/** Everything until the other side closes, or until the text is there. */
export const readUntil = (socket: TLSSocket, text?: string): Promise<string> =>
  new Promise((resolve) => {
    let received = '';
    const finish = (): void => {
      socket.off('data', onData).off('close', finish);
      resolve(received);
    };
    const onData = (chunk: Buffer): void => {
      received += chunk.toString('latin1');
      if (text !== undefined && received.includes(text)) finish();
    };
    socket.on('error', () => undefined);
    socket.on('data', onData).on('close', finish);
  });
