import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { ReasonError, messageOf } from '../../base/errors.ts';
import { NOBODY, type MemberId } from '../../raft/types.ts';
import { ByteReader, type ByteWriter } from './bytes.ts';
import type { Connection } from './connection.ts';
import { FRAME, FRAME_BYTES_MAX } from './frame.ts';
import { PeerError, type PeerReason, type RequestHandler } from './transport.ts';

/** Room for kind and number beside the payload. */
const REQUEST_PAYLOAD_BYTES_MAX = FRAME_BYTES_MAX - 4096;
const REQUESTS_SERVED_MAX = 256;
/** What the answering side may say went wrong; the position is the number on the wire. */
const ANSWER_REASONS = [
  'Failed',
  'UnknownKind',
  'Refused',
  'TooLarge',
] as const satisfies readonly PeerReason[];

interface Pending {
  readonly resolve: (payload: Uint8Array) => void;
  readonly reject: (error: PeerError) => void;
  readonly timer: Disposable;
}

/** Questions that went out on one connection and wait for their answers. */
export class PendingRequests {
  readonly #clock: Clock;
  readonly #pendingMax: number;
  readonly #pending = new Map<number, Pending>();
  #last = 0;

  constructor(clock: Clock, pendingMax: number) {
    this.#clock = clock;
    this.#pendingMax = pendingMax;
  }

  ask(connection: Connection, kind: string, payload: Uint8Array, timeoutMs: number): Promise<Uint8Array> {
    if (payload.length > REQUEST_PAYLOAD_BYTES_MAX) {
      return Promise.reject(new PeerError('TooLarge', `a request of ${payload.length} bytes is too large`));
    }
    if (this.#pending.size >= this.#pendingMax || !connection.hasRoom) {
      return Promise.reject(new PeerError('Refused', 'too many requests to this peer are waiting'));
    }
    const id = (this.#last += 1);
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(timeoutMs, () => {
        this.#pending.delete(id);
        reject(new PeerError('Timeout', `${kind} was not answered within ${timeoutMs} ms`));
      });
      this.#pending.set(id, { resolve, reject, timer });
      connection.frame(FRAME.request, (w) => {
        w.varint(id);
        w.text(kind);
        w.raw(payload);
      });
    });
  }

  /** Takes a response or failure frame. Answers that come too late are dropped. */
  answer(type: number, payload: Uint8Array): void {
    const r = new ByteReader(payload);
    const id = r.varint();
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    pending.timer.dispose();
    if (type === FRAME.response) pending.resolve(r.rest());
    else pending.reject(readFailure(r));
  }

  rejectAll(error: PeerError): void {
    for (const pending of this.#pending.values()) {
      pending.timer.dispose();
      pending.reject(error);
    }
    this.#pending.clear();
  }
}

export const readFailure = (r: ByteReader): PeerError => {
  const reason = ANSWER_REASONS[r.byte()] ?? 'Failed';
  const remoteReason = r.text();
  return new PeerError(reason, r.text(), { remoteReason });
};

export const writeFailure = (w: ByteWriter, error: unknown): void => {
  const position = error instanceof PeerError ? ANSWER_REASONS.findIndex((one) => one === error.reason) : 0;
  w.byte(Math.max(0, position));
  w.text(error instanceof ReasonError ? error.reason : '');
  w.text(messageOf(error));
};

interface Served {
  readonly handler: RequestHandler;
  readonly anonymous: boolean;
}

/** Who answers which kind of question. */
export class RequestHandlers {
  readonly #handlers = new Map<string, Served>();

  add(kind: string, handler: RequestHandler, anonymous: boolean): Disposable {
    const served = { handler, anonymous };
    this.#handlers.set(kind, served);
    return {
      dispose: () => {
        if (this.#handlers.get(kind) === served) this.#handlers.delete(kind);
      },
    };
  }

  /** One for each connection: it bounds what that peer may have us work on at a time. */
  server(connection: Connection, from: MemberId): (payload: Uint8Array) => void {
    let runningCount = 0;
    return (payload) => {
      const r = new ByteReader(payload);
      const id = r.varint();
      const kind = r.text();
      if (runningCount >= REQUESTS_SERVED_MAX) {
        fail(connection, id, new PeerError('Refused', 'too many requests of this peer are being answered'));
        return;
      }
      runningCount += 1;
      void this.#run(kind, r.rest(), from)
        .then(
          (answer) => respond(connection, id, answer),
          (error: unknown) => fail(connection, id, error),
        )
        .finally(() => (runningCount -= 1));
    };
  }

  async #run(kind: string, payload: Uint8Array, from: MemberId): Promise<Uint8Array> {
    const served = this.#handlers.get(kind);
    if (served === undefined) throw new PeerError('UnknownKind', `this member does not answer ${kind}`);
    if (from === NOBODY && !served.anonymous) {
      throw new PeerError('Refused', `${kind} is answered to members only`);
    }
    return served.handler(payload, from);
  }
}

const respond = (connection: Connection, id: number, answer: Uint8Array): void => {
  if (answer.length > REQUEST_PAYLOAD_BYTES_MAX) {
    fail(
      connection,
      id,
      new PeerError('TooLarge', `the answer has ${answer.length} bytes, which is too large`),
    );
    return;
  }
  // A peer that does not read its answers gets none: it asked, and it will time out.
  if (!connection.hasRoom) return;
  connection.frame(FRAME.response, (w) => {
    w.varint(id);
    w.raw(answer);
  });
};

const fail = (connection: Connection, id: number, error: unknown): void => {
  if (!connection.hasRoom) return;
  connection.frame(FRAME.failure, (w) => {
    w.varint(id);
    writeFailure(w, error);
  });
};
