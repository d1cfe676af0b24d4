import type { WebSocket } from 'ws';
import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import { BoundedQueue } from '../../core/base/bounded-queue.ts';
import type { Clock } from '../../core/base/clock.ts';
import type { ClientConfig } from '../../core/client/index.ts';
import {
  ContractError,
  type ExecItem,
  type ExecQuery,
  saidOf,
  say,
  verbatim,
} from '../../core/contract/index.ts';
import { bytesOf, dialPodSocket, onRefused, refusalText } from './pod-socket.ts';

const PROTOCOLS = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const SESSIONS_MAX = 64;
const OUTPUT_ITEMS_MAX = 4096;
const BATCH_ITEMS_MAX = 64;

/** Channels of the remote command protocol: the first byte of every message. */
const STDIN = 0;
const STDOUT = 1;
const STDERR = 2;
const STATUS = 3;
const RESIZE = 4;

/** The Status on the last channel: success, or a failure whose causes carry the exit code. */
export const endOf = (payload: string): Extract<ExecItem, { kind: 'ended' }> => {
  let status: unknown;
  try {
    status = JSON.parse(payload);
  } catch {
    return { kind: 'ended', exitCode: null, message: verbatim(payload) };
  }
  if (!isJsonObject(status)) return { kind: 'ended', exitCode: null, message: verbatim(payload) };
  if (status['status'] === 'Success') return { kind: 'ended', exitCode: 0, message: null };
  const details = isJsonObject(status['details']) ? status['details'] : {};
  const causes = Array.isArray(details['causes']) ? details['causes'].filter(isJsonObject) : [];
  const exit = causes.find((cause) => cause['reason'] === 'ExitCode');
  return {
    kind: 'ended',
    exitCode: exit ? Number(exit['message']) : null,
    message: typeof status['message'] === 'string' ? verbatim(status['message']) : null,
  };
};

const parametersOf = (query: ExecQuery): URLSearchParams => {
  const parameters = new URLSearchParams({
    container: query.container,
    stdin: 'true',
    stdout: 'true',
    tty: 'true',
  });
  for (const word of query.command) parameters.append('command', word);
  return parameters;
};

/** Commands that run now, each fed by calls that name it. */
export class ExecSessions {
  readonly #open = new Map<string, WebSocket>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async *run(
    query: ExecQuery,
    config: ClientConfig,
    signal: AbortSignal,
  ): AsyncGenerator<ExecItem[], void, void> {
    const { session } = query;
    if (this.#open.has(session)) throw new ContractError('Conflict', say('failure.terminalOpen'));
    if (this.#open.size >= SESSIONS_MAX)
      throw new ContractError('Unavailable', say('failure.terminalsMax', { max: SESSIONS_MAX }));
    const socket = await dialPodSocket(
      config,
      { ...query, subresource: 'exec', parameters: parametersOf(query), protocols: PROTOCOLS },
      this.#clock,
      signal,
    );
    this.#open.set(session, socket);
    const queue = new BoundedQueue<ExecItem>({ itemsMax: OUTPUT_ITEMS_MAX, overflow: 'drop-oldest' });
    const decoder = new TextDecoder();
    let end: ExecItem | undefined;
    socket.on('open', () => {
      queue.push({ kind: 'opened' });
      this.resize(session, query);
    });
    socket.on('message', (data) => {
      const bytes = bytesOf(data);
      const channel = bytes[0];
      const payload = bytes.subarray(1);
      if ((channel === STDOUT || channel === STDERR) && payload.length > 0)
        queue.push({ kind: 'output', text: decoder.decode(payload, { stream: true }) });
      else if (channel === STATUS) end = endOf(payload.toString());
    });
    onRefused(socket, (text) => {
      end = { kind: 'ended', exitCode: null, message: verbatim(refusalText(text)) };
      queue.close();
    });
    socket.on('error', (error) => (end ??= { kind: 'ended', exitCode: null, message: saidOf(error) }));
    socket.on('close', () => queue.close());
    const onAbort = (): void => socket.terminate();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      for await (const batch of queue.batches(BATCH_ITEMS_MAX)) yield batch;
      if (!signal.aborted)
        yield [end ?? { kind: 'ended', exitCode: null, message: say('failure.connectionClosed') }];
    } finally {
      signal.removeEventListener('abort', onAbort);
      this.#open.delete(session);
      socket.terminate();
    }
  }

  write(session: string, text: string): void {
    this.#send(session, STDIN, text);
  }

  resize(session: string, { columns, rows }: { readonly columns: number; readonly rows: number }): void {
    this.#send(session, RESIZE, JSON.stringify({ Width: columns, Height: rows }));
  }

  #send(session: string, channel: number, text: string): void {
    const socket = this.#open.get(session);
    if (!socket) throw new ContractError('NotFound', say('failure.terminalClosed'));
    if (socket.readyState === socket.OPEN)
      socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(text)]));
  }
}
