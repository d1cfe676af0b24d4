import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import { RangeRequest } from '../../etcd/proto/range.ts';

const PROBE_MS_MAX = 3_000;
const FRAME_HEADER_BYTES = 5;
const RANGE_PATH = '/etcdserverpb.KV/Range';
const GATEWAY_PATH = '/v3/kv/range';
const KEY = Buffer.from('/registry/');
const RANGE_END = Buffer.from('/registry0');

/** How a stranger comes to a port: without TLS, or with TLS and no certificate of his own. */
export type StrangerScheme = 'http' | 'https';

/** How many keys there are, of at most one; nothing that is stored is read. */
const rangeFrame = (): Buffer => {
  const request = { key: KEY, rangeEnd: RANGE_END, limit: 1, countOnly: true, serializable: true };
  const bytes = RangeRequest.encode(request, FRAME_HEADER_BYTES) as Buffer;
  bytes[0] = 0;
  bytes.writeUInt32BE(bytes.length - FRAME_HEADER_BYTES, 1);
  return bytes;
};

/** Whether a Range call over gRPC succeeds. Everything else, a hang included, is a refusal. */
const servesGrpc = (scheme: StrangerScheme, address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const session = http2.connect(`${scheme}://${address}:${port}`, { rejectUnauthorized: false });
    const end = (isServed: boolean): void => {
      clearTimeout(timer);
      session.destroy();
      resolve(isServed);
    };
    const timer = setTimeout(() => end(false), PROBE_MS_MAX);
    session.once('error', () => end(false));
    session.once('close', () => end(false));
    session.once('connect', () => {
      const stream = session.request({
        ':method': 'POST',
        ':path': RANGE_PATH,
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      // Only gRPC's own word counts: other servers answer this path with a page of theirs.
      const judge = (headers: http2.IncomingHttpHeaders): void => {
        if (headers['grpc-status'] !== undefined) end(headers['grpc-status'] === '0');
      };
      stream.on('error', () => end(false));
      stream.on('response', judge);
      stream.on('trailers', judge);
      stream.resume();
      stream.once('close', () => end(false));
      stream.end(rangeFrame());
    });
  });

/** The same through etcd's JSON gateway. */
const servesGateway = (scheme: StrangerScheme, address: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const body = JSON.stringify({
      key: KEY.toString('base64'),
      range_end: RANGE_END.toString('base64'),
      limit: 1,
      count_only: true,
    });
    const options = { host: address, port, path: GATEWAY_PATH, method: 'POST', agent: false } as const;
    const request =
      scheme === 'https' ? https.request({ ...options, rejectUnauthorized: false }) : http.request(options);
    request.setTimeout(PROBE_MS_MAX, () => request.destroy());
    request.once('error', () => resolve(false));
    request.once('close', () => resolve(false));
    request.once('response', (response) => {
      let text = '';
      response.on('error', () => resolve(false));
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => (text += chunk.slice(0, 4096 - text.length)));
      response.once('end', () => resolve(response.statusCode === 200 && text.includes('"header"')));
    });
    request.end(body);
  });

/** In plain text, or over TLS without a client certificate. */
export type Way = 'plain' | 'tls';

/** In which ways a port gives etcd's keys to somebody without credentials; empty: in none. */
export const strangersKeySpace = async (address: string, port: number): Promise<readonly Way[]> => {
  const ways: Way[] = [];
  for (const scheme of ['http', 'https'] as const) {
    const [isGrpc, isGateway] = await Promise.all([
      servesGrpc(scheme, address, port),
      servesGateway(scheme, address, port),
    ]);
    if (isGrpc || isGateway) ways.push(scheme === 'http' ? 'plain' : 'tls');
  }
  return ways;
};
