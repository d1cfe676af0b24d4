import type { WebSocket } from 'ws';
import type { Clock } from '../../core/base/clock.ts';
import type { ClientConfig } from '../../core/client/index.ts';
import { ContractError, inEnglish, say, verbatim } from '../../core/contract/index.ts';
import { endOf } from '../kube/exec.ts';
import { bytesOf, dialPodSocket, onRefused, refusalText } from '../kube/pod-socket.ts';

/** Only the first can close standard input without closing the command. */
const CLOSING_PROTOCOL = 'v5.channel.k8s.io';
const PROTOCOLS = [CLOSING_PROTOCOL, 'v4.channel.k8s.io'];
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const CLOSE = 255;
/** The server is not read while so much waits. */
const WAITING_BYTES_MAX = 1024 * 1024;
const COMPLAINT_CHARACTERS_MAX = 2_000;
const INPUT_MESSAGE_BYTES_MAX = 32 * 1024;
const DRAIN_MS = 10;

export interface PodCommandQuery {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  readonly hasInput?: boolean;
}

export interface PodCommandEnd {
  /** Null where the server did not say. */
  readonly exitCode: number | null;
  readonly message: string;
  /** The beginning of standard error. */
  readonly complaint: string;
}

/** A command in a container, without a terminal. Dispose it when it is no longer wanted, ended or not. */
export interface PodCommand {
  readonly canCloseInput: boolean;
  /** Standard output until the command ends, read no faster than it is taken. */
  output(): AsyncGenerator<Buffer, void, void>;
  /** Resolves when there is room for more. */
  write(bytes: Uint8Array): Promise<void>;
  closeInput(): void;
  readonly ended: Promise<PodCommandEnd>;
  dispose(): void;
}

const parametersOf = ({ container, command, hasInput }: PodCommandQuery): URLSearchParams => {
  const parameters = new URLSearchParams({ container, stdout: 'true', stderr: 'true' });
  if (hasInput) parameters.set('stdin', 'true');
  for (const word of command) parameters.append('command', word);
  return parameters;
};

const opened = (socket: WebSocket): Promise<void> =>
  new Promise((resolve, reject) => {
    const fail = (text: string): void => reject(new ContractError('Unavailable', verbatim(text)));
    socket.once('open', resolve);
    onRefused(socket, (text) => fail(refusalText(text)));
    socket.on('error', (error) => fail(error.message));
    socket.once('close', () => fail(inEnglish(say('failure.connectionClosed'))));
  });

/** Output that waits to be taken; the socket rests while it is too much. */
class Waiting {
  readonly #socket: WebSocket;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  push(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= WAITING_BYTES_MAX) this.#socket.pause();
    this.#wake?.();
  }

  end(): void {
    this.#isEnded = true;
    this.#wake?.();
  }

  async *take(): AsyncGenerator<Buffer, void, void> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#bytes -= chunk.length;
        if (this.#bytes < WAITING_BYTES_MAX && this.#socket.isPaused) this.#socket.resume();
        yield chunk;
      } else if (this.#isEnded) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** ContractError when the server refuses, or has no such pod or container. */
export const openPodCommand = async (
  config: ClientConfig,
  query: PodCommandQuery,
  clock: Clock,
  signal: AbortSignal,
): Promise<PodCommand> => {
  const socket = await dialPodSocket(
    config,
    { ...query, subresource: 'exec', parameters: parametersOf(query), protocols: PROTOCOLS },
    clock,
    signal,
  );
  const waiting = new Waiting(socket);
  let complaint = '';
  let end: { exitCode: number | null; message: string } | undefined;
  const ended = new Promise<PodCommandEnd>((resolve) =>
    socket.once('close', () => {
      waiting.end();
      resolve({ exitCode: null, message: inEnglish(say('failure.connectionClosed')), ...end, complaint });
    }),
  );
  socket.on('message', (data) => {
    const bytes = bytesOf(data);
    const payload = bytes.subarray(1);
    if (bytes[0] === STDOUT && payload.length > 0) waiting.push(payload);
    else if (bytes[0] === STDERR)
      complaint = (complaint + payload.toString()).slice(0, COMPLAINT_CHARACTERS_MAX);
    else if (bytes[0] === STATUS) {
      const { exitCode, message } = endOf(payload.toString());
      end = { exitCode, message: message ? inEnglish(message) : '' };
    }
  });
  const stop = (): void => socket.terminate();
  signal.addEventListener('abort', stop, { once: true });
  const dispose = (): void => {
    signal.removeEventListener('abort', stop);
    socket.terminate();
  };
  try {
    await opened(socket);
  } catch (error) {
    dispose();
    throw error;
  }
  const drained = async (): Promise<void> => {
    while (socket.bufferedAmount > WAITING_BYTES_MAX && socket.readyState === socket.OPEN)
      await new Promise<void>((resolve) => clock.after(DRAIN_MS, resolve));
  };
  return {
    canCloseInput: socket.protocol === CLOSING_PROTOCOL,
    output: () => waiting.take(),
    async write(bytes) {
      for (let at = 0; at < bytes.length; at += INPUT_MESSAGE_BYTES_MAX)
        if (socket.readyState === socket.OPEN)
          socket.send(
            Buffer.concat([Buffer.from([STDIN]), bytes.subarray(at, at + INPUT_MESSAGE_BYTES_MAX)]),
          );
      await drained();
    },
    closeInput() {
      if (socket.readyState === socket.OPEN) socket.send(Buffer.from([CLOSE, STDIN]));
    },
    ended,
    dispose,
  };
};

const NOT_FOUND_EXIT = 127;
const CANNOT_EXECUTE_EXIT = 126;

/** Why a command did not do its work. */
export const commandFailure = (query: PodCommandQuery, end: PodCommandEnd): ContractError => {
  const { container } = query;
  const [command = ''] = query.command;
  const detail = end.complaint.trim() || end.message || `exit code ${String(end.exitCode)}`;
  // Runtimes have no code of their own for it: the words are those of runc, crun and the kernel.
  const isMissing =
    end.exitCode === NOT_FOUND_EXIT ||
    end.exitCode === CANNOT_EXECUTE_EXIT ||
    /executable file not found|no such file or directory.*exec|exec.*no such file/i.test(end.message);
  return isMissing
    ? new ContractError('NotFound', say('failure.files.noProgram', { container, command }))
    : new ContractError('Unavailable', say('failure.files.refused', { container, command, detail }));
};
