import http2 from 'node:http2';
import type { SecureContextOptions } from 'node:tls';
import { messageOf, ReasonError } from '../../base/errors.ts';
import type { OperatorMethod } from './methods.ts';
import { descriptionIn, failureOf, type EtcdFailure } from './refusals.ts';

const MESSAGE_HEAD_BYTES = 5;
const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Of silence, not of the whole: a snapshot or a defragmentation takes as long as it takes. */
const SILENCE_MS_MAX = 60_000;
const GRPC_OK = '0';

const frame = (body: Buffer): Buffer => {
  const head = Buffer.alloc(MESSAGE_HEAD_BYTES);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
};

/** Whole messages of a stream that arrives in pieces. */
async function* messagesOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0);
  for await (const piece of stream) {
    held = held.length === 0 ? piece : Buffer.concat([held, piece]);
    while (held.length >= MESSAGE_HEAD_BYTES) {
      const end = MESSAGE_HEAD_BYTES + held.readUInt32BE(1);
      if (held[0] !== 0 || end > MESSAGE_BYTES_MAX)
        throw new ReasonError<EtcdFailure>('EtcdRefused', 'etcd sent an invalid message');
      if (held.length < end) break;
      yield held.subarray(MESSAGE_HEAD_BYTES, end);
      held = held.subarray(end);
    }
  }
}

/** Calls on one member. */
export class EtcdConnection {
  readonly url: string;
  readonly #session: http2.ClientHttp2Session;
  #problem: Error | undefined;

  constructor(url: string, tls: SecureContextOptions) {
    this.url = url;
    this.#session = http2.connect(url, { ...tls, settings: { initialWindowSize: 4 * 1024 * 1024 } });
    this.#session.on('error', (error: Error) => (this.#problem = error));
  }

  /** Every message of the answer, in order; throws what the member refused. */
  async *stream<In, Out>(method: OperatorMethod<In, Out>, request: In): AsyncGenerator<Out> {
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': method.path,
      te: 'trailers',
      'content-type': 'application/grpc',
      'user-agent': 'pilothouse',
    });
    let status: string | undefined;
    let message = '';
    const read = (headers: http2.IncomingHttpHeaders): void => {
      if (headers['grpc-status'] === undefined) return;
      status = String(headers['grpc-status']);
      message = descriptionIn(String(headers['grpc-message'] ?? ''));
    };
    stream.on('response', read).on('trailers', read);
    stream.setTimeout(SILENCE_MS_MAX, () => stream.close(http2.constants.NGHTTP2_CANCEL));
    stream.end(frame(method.request.encode(request)));
    try {
      for await (const bytes of messagesOf(stream)) yield method.response.decode(bytes);
    } catch (cause) {
      const why = messageOf(this.#problem ?? cause);
      throw new ReasonError<EtcdFailure>('EtcdUnreachable', `${this.url}: ${why}`, { cause });
    }
    if (status !== GRPC_OK)
      throw new ReasonError<EtcdFailure>(
        failureOf(message),
        `${this.url}: ${message || `the call failed with status ${status ?? 'unknown'}`}`,
      );
  }

  async call<In, Out>(method: OperatorMethod<In, Out>, request: In): Promise<Out> {
    for await (const answer of this.stream(method, request)) return answer;
    throw new ReasonError<EtcdFailure>('EtcdRefused', `${this.url} returned no response`);
  }

  close(): void {
    this.#session.destroy();
  }
}
