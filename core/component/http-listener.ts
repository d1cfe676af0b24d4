import { createServer, type Server, type ServerResponse } from 'node:http';
import { messageOf } from '../base/errors.ts';
import { boundStrangers } from '../base/node/strangers.ts';

const REQUEST_TIMEOUT_MS = 10_000;
/** Past it the oldest is closed, so that a probe is always let in. */
const CONNECTIONS_MAX = 256;
const ORIGIN = 'http://localhost';

export interface HttpAnswer {
  readonly code: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const send = (response: ServerResponse, { code, body, headers }: HttpAnswer): void => {
  response.writeHead(code, { 'x-content-type-options': 'nosniff', ...headers });
  response.end(body);
};

const NOT_FOUND: HttpAnswer = { code: 404, body: '404 page not found\n' };
const BAD_REQUEST: HttpAnswer = { code: 400, body: '400 Bad Request' };

/** Whatever was asked, the process continues: anybody on this machine may ask. */
const answerTo = (target: string, answer: (path: string) => HttpAnswer | undefined): HttpAnswer => {
  if (!URL.canParse(target, ORIGIN)) return BAD_REQUEST;
  try {
    return answer(new URL(target, ORIGIN).pathname) ?? NOT_FOUND;
  } catch (error) {
    return { code: 500, body: `${messageOf(error)}\n` };
  }
};

/** A small HTTP server whose answers are at hand: health and metrics. Undefined: not found. */
export class HttpListener {
  readonly #server: Server;

  constructor(answer: (path: string) => HttpAnswer | undefined) {
    this.#server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      send(response, answerTo(request.url ?? '/', answer));
    });
    boundStrangers(this.#server, CONNECTIONS_MAX);
  }

  readonly connectionsCount = 0;

  listen(address: string, port: number): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen({ host: address, port, exclusive: true }, () => {
        this.#server.removeListener('error', reject);
        resolve();
      });
    });
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  drain(onDrained: () => void): void {
    this.destroy();
    onDrained();
  }

  destroy(): void {
    if (this.#server.listening) this.#server.close();
    this.#server.closeAllConnections();
  }
}
