import type { SecureContextOptions } from 'node:tls';
import { ReasonError } from '../../base/errors.ts';
import { CODE } from '../../base/node/grpc/codes.ts';
import { serverStream } from '../../base/node/grpc/server-stream.ts';
import { dialGrpc, type GrpcSession } from '../../base/node/grpc/session.ts';
import type { OperatorMethod } from './methods.ts';
import { failureOf, type EtcdFailure } from './refusals.ts';

const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
/** Of silence, not of the whole: a snapshot or a defragmentation takes as long as it takes. */
const SILENCE_MS_MAX = 60_000;

/** Calls on one member. */
export class EtcdConnection {
  readonly url: string;
  readonly #session: GrpcSession;

  constructor(url: string, tls: SecureContextOptions) {
    this.url = url;
    this.#session = dialGrpc(url, tls);
  }

  /** Every message of the answer, in order; throws what the member refused. */
  async *stream<In, Out>(method: OperatorMethod<In, Out>, request: In): AsyncGenerator<Out> {
    const end = yield* this.#messages(method, request);
    const failed = (reason: EtcdFailure, why: string): Error =>
      new ReasonError(reason, `${this.url}: ${why}`);
    if (end.kind === 'lost') throw failed('EtcdUnreachable', end.why);
    if (end.kind === 'malformed') throw failed('EtcdRefused', `etcd sent an invalid message: ${end.why}`);
    if (end.code !== CODE.OK)
      throw failed(failureOf(end.text), end.text || `the call failed with status ${end.code}`);
  }

  async *#messages<In, Out>(method: OperatorMethod<In, Out>, request: In) {
    const messages = serverStream(this.#session, {
      path: method.path,
      message: method.request.encode(request),
      messageBytesMax: MESSAGE_BYTES_MAX,
      silenceMsMax: SILENCE_MS_MAX,
    });
    try {
      for (;;) {
        const next = await messages.next();
        if (next.done) return next.value;
        yield method.response.decode(next.value);
      }
    } finally {
      await messages.return({ kind: 'lost', why: 'the answer is no longer wanted', untouched: false });
    }
  }

  async call<In, Out>(method: OperatorMethod<In, Out>, request: In): Promise<Out> {
    for await (const answer of this.stream(method, request)) return answer;
    throw new ReasonError<EtcdFailure>('EtcdRefused', `${this.url} returned no response`);
  }

  close(): void {
    this.#session.close('the connection was closed');
  }
}
