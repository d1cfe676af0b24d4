import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Listener } from '../forwarding/index.ts';

const REQUEST_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 256;

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

/** A small HTTP server whose answers are at hand: health and metrics. Undefined: not found. */
export class HttpListener implements Listener {
  readonly #server: Server;

  constructor(answer: (path: string) => HttpAnswer | undefined) {
    this.#server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost');
      send(response, answer(pathname) ?? NOT_FOUND);
    });
    this.#server.maxConnections = CONNECTIONS_MAX;
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
