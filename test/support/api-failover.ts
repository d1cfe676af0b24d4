import type { SecureContextOptions } from 'node:tls';
import { LoadClient, type LoadAnswer, type LoadRequest, type LoadWatch } from './api-load.ts';

const PAUSE_MS = 20;
const ATTEMPTS_MAX = 500;
const TOLD_LIMIT_MS = 180_000;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Answers that say "not me, not now": anyone who can goes to the next server. */
const isRefusal = (code: number): boolean => code === 429 || code >= 500;

/** A client that knows all API servers: where one fails it continues with the next. */
export class FailoverClient {
  readonly #urls: readonly string[];
  readonly #credentials: SecureContextOptions;
  #server: number;
  #connecting: Promise<LoadClient> | undefined;
  #closed = false;

  constructor(urls: readonly string[], credentials: SecureContextOptions, firstServer: number) {
    this.#urls = urls;
    this.#credentials = credentials;
    this.#server = firstServer;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Sends until somebody answers. The same request may so be carried out twice: it has to be idempotent. */
  async request(request: LoadRequest): Promise<LoadAnswer> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const client = await this.connect();
      try {
        const answer = await client.request(request);
        if (!isRefusal(answer.code)) return answer;
      } catch {
        // Whether it was carried out no one knows; it is sent again.
      }
      await this.leave(client);
    }
    throw new Error(`nobody answers ${request.method ?? 'GET'} ${request.path}`);
  }

  async connect(): Promise<LoadClient> {
    for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
      const connecting = (this.#connecting ??= LoadClient.connect(
        this.#urls[this.#server % this.#urls.length]!,
        this.#credentials,
      ));
      try {
        const client = await connecting;
        if (client.usable) return client;
      } catch {
        await pause(PAUSE_MS); // refused: the server is gone
      }
      this.#next(connecting);
    }
    throw new Error('no server can be reached');
  }

  /** To the next server, unless somebody else has gone there already. */
  async leave(client: LoadClient): Promise<void> {
    const connecting = this.#connecting;
    if (connecting === undefined || (await connecting.catch(() => undefined)) !== client) return;
    this.#next(connecting);
    await pause(PAUSE_MS);
  }

  close(): void {
    this.#closed = true;
    this.#connecting?.then(
      (client) => client.close(),
      () => undefined,
    );
  }

  #next(connecting: Promise<LoadClient>): void {
    if (this.#connecting !== connecting) return;
    this.#connecting = undefined;
    this.#server += 1;
  }
}

export interface KeyEvent {
  readonly type: string;
  readonly value: string;
}

interface WatchLine {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string; readonly resourceVersion: string };
    readonly data?: { readonly value?: string };
    readonly message?: string;
  };
}

/** One watch that continues, on whatever server, after the last version it has seen. */
export class RecordingWatch {
  readonly revisions: number[] = [];
  readonly #events = new Map<string, KeyEvent[]>();
  readonly #client: FailoverClient;
  readonly #path: string;
  readonly #opened: Promise<void>;
  #current: LoadWatch | undefined;
  #revision: string;
  #failure: Error | undefined;
  #wake: () => void = () => undefined;
  resumes = 0;

  constructor(client: FailoverClient, path: string, revision: string) {
    this.#client = client;
    this.#path = path;
    this.#revision = revision;
    this.#opened = new Promise((resolve) => void this.#run(resolve));
  }

  opened(): Promise<void> {
    return this.#opened;
  }

  eventsOf(name: string): readonly KeyEvent[] {
    return this.#events.get(name) ?? [];
  }

  /** Resolves when so many events have come. One too many is found by who compares them. */
  async told(count: number): Promise<void> {
    const deadline = Date.now() + TOLD_LIMIT_MS;
    while (this.revisions.length < count) {
      if (this.#failure) throw this.#failure;
      if (Date.now() > deadline) throw new Error(`${this.revisions.length} of ${count} events were told`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, deadline - Date.now());
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  close(): void {
    this.#client.close();
    this.#current?.cancel();
  }

  async #run(onOpened: () => void): Promise<void> {
    while (!this.#client.closed && this.#failure === undefined) {
      const client = await this.#client.connect();
      const path = `${this.#path}&resourceVersion=${this.#revision}`;
      this.#current = client.watch(
        path,
        (line) => this.#onLine(line),
        (code) => {
          if (code === 200) onOpened();
        },
      );
      await this.#current.ended;
      this.resumes += 1;
      if (!this.#client.closed) await this.#client.leave(client);
    }
  }

  #onLine(line: Buffer): void {
    const { type, object } = JSON.parse(line.toString()) as WatchLine;
    if (type === 'ERROR') this.#failure = new Error(`the watch cannot go on: ${object.message}`);
    else {
      const { name, resourceVersion } = object.metadata;
      this.#revision = resourceVersion;
      this.revisions.push(Number(resourceVersion));
      const known = this.#events.get(name);
      const event: KeyEvent = { type, value: object.data?.value ?? '' };
      if (known === undefined) this.#events.set(name, [event]);
      else known.push(event);
    }
    this.#wake();
  }
}

export interface History {
  readonly path: string;
  readonly name: string;
  /** A creation, changes, and a deletion: so many in all. */
  readonly writes: number;
  readonly onWritten: () => void;
}

const must = (answer: LoadAnswer, codes: readonly number[]): void => {
  if (!codes.includes(answer.code))
    throw new Error(
      `${answer.code} instead of ${codes.join(' or ')}: ${answer.body.toString().slice(0, 300)}`,
    );
};

/** Each write is repeated until it is acknowledged; a repeat of what was carried out changes nothing. */
export const writeHistory = async (
  client: FailoverClient,
  { path, name, writes, onWritten }: History,
): Promise<void> => {
  const body = (value: number): string =>
    JSON.stringify({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { name, labels: { kind: 'killed' } },
      data: { value: String(value) },
    });
  must(await client.request({ method: 'POST', path, body: body(0) }), [201, 409]);
  onWritten();
  for (let value = 1; value <= writes - 2; value += 1) {
    must(await client.request({ method: 'PUT', path: `${path}/${name}`, body: body(value) }), [200]);
    onWritten();
  }
  must(await client.request({ method: 'DELETE', path: `${path}/${name}` }), [200, 404]);
  onWritten();
};
