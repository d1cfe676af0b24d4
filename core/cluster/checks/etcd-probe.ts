import http from 'node:http';
import https from 'node:https';
import { CODE } from '../../base/node/grpc/codes.ts';
import { dialGrpc } from '../../base/node/grpc/session.ts';
import { unaryCall } from '../../base/node/grpc/unary-call.ts';
import { RangeRequest } from '../../etcd/proto/range.ts';

const PROBE_MS_MAX = 3_000;
const ANSWER_BYTES_MAX = 64 * 1024;
const RANGE_PATH = '/etcdserverpb.KV/Range';
const GATEWAY_PATH = '/v3/kv/range';
const KEY = Buffer.from('/registry/');
const RANGE_END = Buffer.from('/registry0');

/** How a stranger comes to a port: without TLS, or with TLS and no certificate of his own. */
export type StrangerScheme = 'http' | 'https';

/** How many keys there are, of at most one; nothing that is stored is read. */
const rangeBytes = (): Uint8Array =>
  RangeRequest.encode({ key: KEY, rangeEnd: RANGE_END, limit: 1, countOnly: true, serializable: true });

/** Whether a Range call over gRPC succeeds. Everything else, a hang included, is a refusal. */
const servesGrpc = async (scheme: StrangerScheme, address: string, port: number): Promise<boolean> => {
  const session = dialGrpc(`${scheme}://${address}:${port}`, { rejectUnauthorized: false });
  const signal = AbortSignal.timeout(PROBE_MS_MAX);
  try {
    const message = rangeBytes();
    const { status } = await unaryCall(session, {
      path: RANGE_PATH,
      message,
      answerBytesMax: ANSWER_BYTES_MAX,
      signal,
    });
    // Only gRPC's own word counts: other servers answer this path with a page of theirs.
    return status === CODE.OK;
  } finally {
    session.close('the question is answered');
  }
};

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
