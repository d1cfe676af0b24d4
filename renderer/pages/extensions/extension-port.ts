import type { ExtensionRequest } from '../../../core/contract/index.ts';

/** Longer messages, and more of them in a second, end the extension: no page of a person's needs them. */
export const MESSAGE_CHARACTERS_MAX = 16 * 1024;
export const MESSAGES_PER_SECOND_MAX = 100;
/** Questions that wait for an answer; the next one is refused. */
export const WAITING_MAX = 64;
/** Sent to the host together. */
export const IN_PROGRESS_MAX = 3;
const SECOND_MS = 1000;

export type StopReason = 'flood' | 'tooLarge' | 'malformed' | 'left';

/** The colours and words that a page needs to look like the console, and the cluster that it is asked about. */
export interface ExtensionContext {
  readonly cluster: string | null;
  readonly namespaces: readonly string[];
  readonly theme: 'light' | 'dark';
  readonly language: string;
  readonly colours: Readonly<Record<string, string>>;
}

interface Refused {
  readonly reason: string;
  readonly message: string;
}
export type Answered = { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & Refused);

export interface ExtensionPortOptions {
  readonly port: Pick<MessagePort, 'postMessage' | 'close' | 'onmessage'>;
  /** Asks the host, which decides what may be read. */
  readonly read: (request: ExtensionRequest) => Promise<Answered>;
  /** Shows an object in the console. */
  readonly open: (target: OpenTarget) => Answered;
  readonly onReady: () => void;
  readonly onPong: () => void;
  /** It is cut off: nothing more is heard of it. */
  readonly onStop: (why: StopReason) => void;
  readonly nowMs: () => number;
}

export interface OpenTarget {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

interface Ask {
  readonly id: number;
  readonly request: Readonly<Record<string, unknown>>;
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const parse = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/**
 * The console's end of the port to the frame of an extension. What comes in is untrusted: it is bounded in size, number and
 * pace, and means one of four things. What it asks to read goes to the host as it is, which checks it against the contract and
 * the consent of the person.
 */
export class ExtensionPort {
  readonly #options: ExtensionPortOptions;
  readonly #waiting: Ask[] = [];
  #inProgress = 0;
  #isPaused = false;
  #isOver = false;
  #second = { startMs: 0, count: 0 };

  constructor(options: ExtensionPortOptions) {
    this.#options = options;
    options.port.onmessage = ({ data }: MessageEvent<unknown>) => this.#hear(data);
  }

  tell(context: ExtensionContext): void {
    this.#post({ kind: 'context', context });
  }

  ping(): void {
    this.#post({ kind: 'ping' });
  }

  /** While no one can see the page its questions wait. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    this.#pump();
  }

  close(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    this.#options.port.onmessage = null;
    this.#options.port.close();
  }

  #stop(why: StopReason): void {
    if (this.#isOver) return;
    this.close();
    this.#options.onStop(why);
  }

  #post(message: object): void {
    if (!this.#isOver) this.#options.port.postMessage(message);
  }

  #isTooMany(): boolean {
    const now = this.#options.nowMs();
    if (now - this.#second.startMs >= SECOND_MS) this.#second = { startMs: now, count: 0 };
    this.#second.count += 1;
    return this.#second.count > MESSAGES_PER_SECOND_MAX;
  }

  #hear(data: unknown): void {
    if (this.#isOver) return;
    if (this.#isTooMany()) return this.#stop('flood');
    if (typeof data !== 'string') return this.#stop('malformed');
    if (data.length > MESSAGE_CHARACTERS_MAX) return this.#stop('tooLarge');
    const message = parse(data);
    switch (message?.['kind']) {
      case 'ready':
        return this.#options.onReady();
      case 'pong':
        return this.#options.onPong();
      case 'ask':
        return this.#take(message['id'], message['request']);
      default:
        return this.#stop('malformed');
    }
  }

  #take(id: unknown, request: unknown): void {
    if (!Number.isSafeInteger(id) || !isRecord(request)) return this.#stop('malformed');
    const ask = { id: id as number, request };
    if (request['kind'] === 'open') return this.#answer(ask, this.#opened(request));
    if (this.#waiting.length >= WAITING_MAX)
      return this.#answer(ask, {
        ok: false,
        reason: 'Unavailable',
        message: 'too many requests are waiting',
      });
    this.#waiting.push(ask);
    this.#pump();
  }

  #opened(request: Readonly<Record<string, unknown>>): Answered {
    const { resource, namespace, name } = request;
    return this.#options.open({
      resource: textOf(resource),
      namespace: textOf(namespace),
      name: textOf(name),
    });
  }

  #pump(): void {
    while (!this.#isPaused && this.#inProgress < IN_PROGRESS_MAX) {
      const ask = this.#waiting.shift();
      if (!ask) return;
      this.#inProgress += 1;
      // Checked by the host against the contract, whatever it is.
      void this.#options
        .read(ask.request as unknown as ExtensionRequest)
        .then((answered) => this.#answer(ask, answered))
        .finally(() => {
          this.#inProgress -= 1;
          this.#pump();
        });
    }
  }

  #answer({ id }: Ask, answered: Answered): void {
    if (answered.ok) this.#post({ kind: 'result', id, value: answered.value });
    else this.#post({ kind: 'failure', id, reason: answered.reason, message: answered.message });
  }
}
