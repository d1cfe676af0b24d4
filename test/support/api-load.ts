import { connect, type SecureContextOptions } from 'node:tls';
import { ClientConnection, type StreamEnd } from '../../core/base/node/http2/client/connection.ts';
import { encodeHeaders } from '../../core/base/node/http2/hpack.ts';

export interface LoadAnswer {
  readonly code: number;
  readonly body: Buffer;
}

export interface LoadRequest {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: string;
  readonly contentType?: string;
}

export interface LoadWatch {
  /** Resolves when the stream is over, no matter who ended it. */
  readonly ended: Promise<StreamEnd>;
  cancel(): void;
}

const NEWLINE = 0x0a;
const NOTHING = Buffer.alloc(0);

/** One client of an API server that costs its machine as little as can be: a connection of its own over mTLS. */
export class LoadClient {
  readonly #connection: ClientConnection;
  readonly #common: Buffer;

  private constructor(connection: ClientConnection, authority: string, userAgent: string) {
    this.#connection = connection;
    this.#common = encodeHeaders([
      { name: ':scheme', value: 'https' },
      { name: ':authority', value: authority },
      { name: 'user-agent', value: userAgent },
      { name: 'accept', value: 'application/json' },
    ]);
  }

  static connect(
    url: string,
    credentials: SecureContextOptions,
    userAgent = 'load/1.0',
  ): Promise<LoadClient> {
    const { hostname, port, host } = new URL(url);
    return new Promise((resolve, reject) => {
      const socket = connect({
        host: hostname,
        port: Number(port),
        ...credentials,
        ALPNProtocols: ['h2'],
      });
      socket.once('error', reject);
      socket.once('secureConnect', () => {
        socket.off('error', reject);
        socket.setNoDelay(true);
        const events = { onDraining: () => undefined, onClosed: () => undefined };
        resolve(new LoadClient(new ClientConnection(socket, events), host, userAgent));
      });
    });
  }

  get usable(): boolean {
    return this.#connection.usable;
  }

  /** Rejects when the connection broke before the answer was whole. */
  request(request: LoadRequest): Promise<LoadAnswer> {
    return new Promise((resolve, reject) => {
      let code = 0;
      const chunks: Buffer[] = [];
      const { body } = request;
      const stream = this.#connection.open(
        this.#head(request),
        {
          onHeaders: (headers) => (code = Number(headers.get(':status'))),
          onData: (bytes) => chunks.push(bytes),
          onEnd(end) {
            if (end.kind === 'failed') reject(new Error(end.why));
            else resolve({ code, body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks) });
          },
        },
        body === undefined,
      );
      if (body !== undefined) stream.write(Buffer.from(body), true);
    });
  }

  /** Each line as it comes, without its end; `onOpen` gets the code of the answer. */
  watch(
    path: string,
    onLine: (line: Buffer) => void,
    onOpen: (code: number) => void = () => undefined,
  ): LoadWatch {
    let rest = NOTHING;
    let over: (end: StreamEnd) => void = () => undefined;
    const ended = new Promise<StreamEnd>((resolve) => (over = resolve));
    const stream = this.#connection.open(
      this.#head({ path }),
      {
        onHeaders: (headers) => onOpen(Number(headers.get(':status'))),
        onData(bytes) {
          let from = 0;
          for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, from)) {
            const line = bytes.subarray(from, at);
            onLine(rest.length === 0 ? line : Buffer.concat([rest, line]));
            rest = NOTHING;
            from = at + 1;
          }
          if (from < bytes.length) rest = Buffer.concat([rest, bytes.subarray(from)]);
        },
        onEnd: (end) => over(end),
      },
      true,
    );
    return { ended, cancel: () => stream.cancel('not wanted any more') };
  }

  close(): void {
    this.#connection.destroy('closed by its user');
  }

  #head({ method = 'GET', path, body, contentType = 'application/json' }: LoadRequest): Buffer {
    const own = encodeHeaders([
      { name: ':method', value: method },
      { name: ':path', value: path },
    ]);
    if (body === undefined) return Buffer.concat([own, this.#common]);
    const about = encodeHeaders([
      { name: 'content-type', value: contentType },
      { name: 'content-length', value: String(Buffer.byteLength(body)) },
    ]);
    return Buffer.concat([own, this.#common, about]);
  }
}
