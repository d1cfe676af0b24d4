import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { CODE } from '../../base/node/grpc/codes.ts';
import { openGrpcSession, type GrpcSession } from '../../base/node/grpc/session.ts';
import { unaryCall } from '../../base/node/grpc/unary-call.ts';
import { readAuthorities, readPair } from '../../base/node/pem-files.ts';
import type { DiscoveryConfig, DiscoveryEndpoint } from '../config/discovery.ts';
import {
  AuthenticateRequest,
  AuthenticateResponse,
  PutRequest,
  PutResponse,
  RangeRequest,
  RangeResponse,
} from '../proto/index.ts';
import type { DiscoveryStore } from './join-cluster.ts';

/** A cluster's members are a few lines. */
const ANSWER_BYTES_MAX = 1024 * 1024;

interface Method<Request, Response> {
  readonly path: string;
  encode(request: Request): Buffer;
  decode(bytes: Buffer): Response;
}

const RANGE: Method<Parameters<typeof RangeRequest.encode>[0], RangeResponse> = {
  path: '/etcdserverpb.KV/Range',
  encode: (request) => RangeRequest.encode(request),
  decode: (bytes) => RangeResponse.decode(bytes),
};
const PUT: Method<Parameters<typeof PutRequest.encode>[0], PutResponse> = {
  path: '/etcdserverpb.KV/Put',
  encode: (request) => PutRequest.encode(request),
  decode: (bytes) => PutResponse.decode(bytes),
};
const AUTHENTICATE: Method<Parameters<typeof AuthenticateRequest.encode>[0], AuthenticateResponse> = {
  path: '/etcdserverpb.Auth/Authenticate',
  encode: (request) => AuthenticateRequest.encode(request),
  decode: (bytes) => AuthenticateResponse.decode(bytes),
};

const unreachable = (message: string, cause?: unknown): ReasonError =>
  new ReasonError('Unreachable', message, { cause });

const refused = (text: string): ReasonError =>
  new ReasonError('Refused', `discovery: the service refused the request: ${text || 'without a reason'}`);

/** A wrong password stays wrong. */
const WORTH_ANOTHER_TRY: ReadonlySet<number> = new Set([
  CODE.OK,
  CODE.DeadlineExceeded,
  CODE.ResourceExhausted,
  CODE.Unavailable,
]);

const call = async <Request, Response>(
  session: GrpcSession,
  { path, encode, decode }: Method<Request, Response>,
  request: Request,
  token: string | undefined,
): Promise<Response> => {
  const { status, text, message, isTooLarge, error } = await unaryCall(session, {
    path,
    message: encode(request),
    ...(token !== undefined && { headers: { token } }),
    answerBytesMax: ANSWER_BYTES_MAX,
  });
  if (isTooLarge) throw unreachable('the discovery service sent too much');
  if (status === undefined && error) throw unreachable(error.message, error);
  if (status !== undefined && !WORTH_ANOTHER_TRY.has(status)) throw refused(text);
  if (status !== CODE.OK) throw unreachable(text || 'the discovery service did not answer');
  if (!message) throw unreachable('the discovery service sent no whole message');
  try {
    return decode(message);
  } catch (cause) {
    throw unreachable(messageOf(cause), cause);
  }
};

/** The discovery service over gRPC: one connection a question, to one endpoint after the other until one answers. */
export const grpcDiscoveryStore = (config: DiscoveryConfig, clock: Clock): DiscoveryStore => {
  const credentials = async () => ({
    ...(config.certFile !== '' && (await readPair(config.certFile, config.keyFile))),
    ...(config.caFile !== '' && { ca: await readAuthorities(config.caFile) }),
    rejectUnauthorized: !config.skipVerify,
  });

  const open = async (endpoint: DiscoveryEndpoint): Promise<GrpcSession> => {
    const { secure, host, port } = endpoint;
    const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const name = isIP(host) === 0 ? { servername: host } : {};
    const socket = secure
      ? connectTls({ ...(await credentials()), ...name, host, port, ALPNProtocols: ['h2'] })
      : connectTcp({ host, port });
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        late.dispose();
        socket.destroy();
        reject(unreachable(`${authority}: ${error.message}`, error));
      };
      const late = clock.after(config.dialTimeoutMs, () => fail(new Error('did not connect in time')));
      socket.on('error', fail);
      socket.once(secure ? 'secureConnect' : 'connect', () => {
        if ('alpnProtocol' in socket && socket.alpnProtocol !== 'h2')
          return fail(new Error('the server does not speak HTTP/2'));
        late.dispose();
        resolve(openGrpcSession(socket, authority, secure ? 'https' : 'http'));
      });
    });
  };

  const ask = async <T>(
    endpoint: DiscoveryEndpoint,
    question: (session: GrpcSession, token: string | undefined) => Promise<T>,
  ): Promise<T> => {
    const session = await open(endpoint);
    const late = clock.after(config.requestTimeoutMs, () => session.close('did not answer in time'));
    try {
      const { user } = config;
      const token = user && (await call(session, AUTHENTICATE, user, undefined)).token;
      return await question(session, token);
    } finally {
      late.dispose();
      session.close('the question is answered');
    }
  };

  const askAny = async <T>(
    question: (session: GrpcSession, token: string | undefined) => Promise<T>,
  ): Promise<T> => {
    let last: unknown;
    for (const endpoint of config.endpoints) {
      try {
        return await ask(endpoint, question);
      } catch (error) {
        last = error;
      }
    }
    throw last;
  };

  return {
    get: (key) =>
      askAny(async (session, token) => {
        const { kvs } = await call(session, RANGE, { key: Buffer.from(key) }, token);
        const value = kvs[0]?.value;
        return value === undefined ? undefined : Buffer.from(value).toString().trim();
      }),
    list: (prefix) =>
      askAny(async (session, token) => {
        const key = Buffer.from(prefix);
        const rangeEnd = Buffer.from(key);
        // A prefix of ours ends in a slash, so its last byte can be counted up.
        rangeEnd[rangeEnd.length - 1]! += 1;
        const { kvs } = await call(session, RANGE, { key, rangeEnd }, token);
        return kvs.map((kv) => ({
          key: Buffer.from(kv.key).toString(),
          value: Buffer.from(kv.value).toString(),
          createRevision: kv.createRevision,
        }));
      }),
    put: (key, value) =>
      askAny(async (session, token) => {
        await call(session, PUT, { key: Buffer.from(key), value: Buffer.from(value) }, token);
      }),
  };
};
