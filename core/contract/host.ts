import * as v from 'valibot';
import {
  contract,
  isName,
  type CallName,
  type InputOf,
  type ItemOf,
  type OutputOf,
  type StreamName,
} from './contract.ts';
import { schemaFault } from '../base/parse-fault.ts';
import { ContractError, toFailure } from './failure.ts';
import {
  CALLS_IN_FLIGHT_PER_CONNECTION_MAX,
  clientMessage,
  STREAM_BATCHES_IN_FLIGHT_MAX,
  STREAMS_PER_CONNECTION_MAX,
  type HostMessage,
} from './messages.ts';
import { say, verbatim } from './sentences/said.ts';
import type { CallShape, Schema, StreamShape } from './shape.ts';

export type CallHandler<N extends CallName> = (
  input: InputOf<N>,
  signal: AbortSignal,
) => Promise<OutputOf<N>>;

/**
 * Yields batches. The next batch is asked for only when the console has room for it, so a source that
 * must not wait puts a `BoundedQueue` between. When `signal` aborts the iterator must end soon.
 */
export type StreamHandler<N extends StreamName> = (
  input: InputOf<N>,
  signal: AbortSignal,
) => AsyncIterable<readonly ItemOf<N>[]>;

/** What a host offers. What it leaves out answers `Unimplemented`. */
export type Handlers = { readonly [N in CallName]?: CallHandler<N> } & {
  readonly [N in StreamName]?: StreamHandler<N>;
};

export interface HostConnection {
  /** A message from the console, as it came off the wire: anything at all. */
  receive(message: unknown): void;
  /** Streams open now; zero after the console went away. */
  readonly openStreamCount: number;
  /** Ends every call and stream. Nothing is sent afterwards. */
  close(): void;
}

interface OpenStream {
  credit: number;
  readonly abort: AbortController;
  wake: (() => void) | undefined;
}

type AnyHandler = (input: unknown, signal: AbortSignal) => unknown;

const parse = (schema: Schema, value: unknown, what: string): unknown => {
  const result = v.safeParse(schema, value);
  if (result.success) return result.output;
  throw new ContractError(
    'BadRequest',
    verbatim(`${what} does not fit the contract: ${schemaFault(result.issues)}`),
  );
};

/** The dispatcher of one console: checks every message against the contract and runs its handler. */
export const serveConnection = (handlers: Handlers, post: (message: HostMessage) => void): HostConnection => {
  const calls = new Map<number, AbortController>();
  const streams = new Map<number, OpenStream>();
  let closed = false;

  const send = (message: HostMessage): void => {
    if (!closed) post(message);
  };

  const handlerFor = (name: string, kind: 'call' | 'stream'): AnyHandler => {
    if (!isName(name) || contract[name].kind !== kind)
      throw new ContractError('BadRequest', verbatim(`the contract has no ${kind} named ${name}`));
    const handler = handlers[name] as AnyHandler | undefined;
    if (!handler) throw new ContractError('Unimplemented', say('failure.unsupported', { name }));
    return handler;
  };

  const runCall = async (id: number, name: string, input: unknown): Promise<void> => {
    if (calls.has(id) || streams.has(id))
      return send({ kind: 'failure', id, failure: { reason: 'BadRequest', message: `id ${id} is in use` } });
    const abort = new AbortController();
    try {
      const handler = handlerFor(name, 'call');
      if (calls.size >= CALLS_IN_FLIGHT_PER_CONNECTION_MAX)
        throw new ContractError(
          'Unavailable',
          verbatim(`more than ${CALLS_IN_FLIGHT_PER_CONNECTION_MAX} concurrent calls`),
        );
      calls.set(id, abort);
      const shape = contract[name as CallName] as CallShape;
      const parsed = parse(shape.input, input, `the input of ${name}`);
      const output = await handler(parsed, abort.signal);
      const answer = v.safeParse(shape.output, output);
      if (!answer.success)
        throw new ContractError(
          'Internal',
          verbatim(`${name} answered out of contract: ${schemaFault(answer.issues)}`),
        );
      if (calls.get(id) === abort) send({ kind: 'result', id, value: answer.output });
    } catch (error) {
      if (!abort.signal.aborted) send({ kind: 'failure', id, failure: toFailure(error) });
    } finally {
      if (calls.get(id) === abort) calls.delete(id);
    }
  };

  const pump = async (open: OpenStream, id: number, name: StreamName, input: unknown): Promise<void> => {
    const shape = contract[name] as StreamShape;
    const handler = handlerFor(name, 'stream') as (
      input: unknown,
      signal: AbortSignal,
    ) => AsyncIterable<readonly unknown[]>;
    const batches = handler(parse(shape.input, input, `the input of ${name}`), open.abort.signal);
    const items = v.array(shape.item);
    const iterator = batches[Symbol.asyncIterator]();
    const aborted = new Promise<'aborted'>((resolve) =>
      open.abort.signal.addEventListener('abort', () => resolve('aborted'), { once: true }),
    );
    try {
      while (!open.abort.signal.aborted) {
        const next = await Promise.race([iterator.next(), aborted]);
        if (next === 'aborted' || next.done) return;
        const checked = v.safeParse(items, next.value);
        if (!checked.success)
          throw new ContractError(
            'Internal',
            verbatim(`${name} sent out of contract: ${schemaFault(checked.issues)}`),
          );
        for (let from = 0; from < checked.output.length; from += shape.batchItemsMax) {
          while (open.credit === 0 && !open.abort.signal.aborted)
            await new Promise<void>((resolve) => (open.wake = resolve));
          if (open.abort.signal.aborted) return;
          open.credit -= 1;
          send({ kind: 'batch', id, items: checked.output.slice(from, from + shape.batchItemsMax) });
        }
      }
    } finally {
      // Not awaited: a source that ignores its signal must not keep the connection's books open.
      void iterator.return?.()?.then(undefined, () => undefined);
    }
  };

  const runStream = async (id: number, name: string, input: unknown): Promise<void> => {
    if (calls.has(id) || streams.has(id))
      return send({ kind: 'end', id, failure: { reason: 'BadRequest', message: `id ${id} is in use` } });
    const open: OpenStream = {
      credit: STREAM_BATCHES_IN_FLIGHT_MAX,
      abort: new AbortController(),
      wake: undefined,
    };
    try {
      handlerFor(name, 'stream');
      if (streams.size >= STREAMS_PER_CONNECTION_MAX)
        throw new ContractError(
          'Unavailable',
          verbatim(`more than ${STREAMS_PER_CONNECTION_MAX} concurrent streams`),
        );
      streams.set(id, open);
      await pump(open, id, name as StreamName, input);
      if (!open.abort.signal.aborted) send({ kind: 'end', id });
    } catch (error) {
      if (!open.abort.signal.aborted) send({ kind: 'end', id, failure: toFailure(error) });
    } finally {
      if (streams.get(id) === open) streams.delete(id);
      open.abort.abort();
    }
  };

  const closeStream = (id: number, open: OpenStream): void => {
    streams.delete(id);
    open.abort.abort();
    open.wake?.();
  };

  const reset = (): void => {
    for (const abort of calls.values()) abort.abort();
    calls.clear();
    for (const [id, open] of [...streams]) closeStream(id, open);
  };

  return {
    get openStreamCount() {
      return streams.size;
    },
    receive(raw) {
      if (closed) return;
      const parsed = v.safeParse(clientMessage, raw);
      if (!parsed.success) {
        const id = (raw as { id?: unknown } | null)?.id;
        const message = `not a message of the contract: ${schemaFault(parsed.issues)}`;
        if (typeof id === 'number' && Number.isSafeInteger(id) && id > 0)
          send({ kind: 'failure', id, failure: { reason: 'BadRequest', message } });
        return;
      }
      const message = parsed.output;
      switch (message.kind) {
        case 'hello':
          return reset();
        case 'call':
          return void runCall(message.id, message.name, message.input);
        case 'open':
          return void runStream(message.id, message.name, message.input);
        case 'credit': {
          const open = streams.get(message.id);
          if (!open) return;
          open.credit = Math.min(open.credit + 1, STREAM_BATCHES_IN_FLIGHT_MAX);
          const wake = open.wake;
          open.wake = undefined;
          return wake?.();
        }
        case 'close': {
          const open = streams.get(message.id);
          if (open) closeStream(message.id, open);
          const abort = calls.get(message.id);
          calls.delete(message.id);
          return abort?.abort();
        }
      }
    },
    close() {
      closed = true;
      reset();
    },
  };
};
