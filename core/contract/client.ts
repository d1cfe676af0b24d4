import * as v from 'valibot';
import type { Disposable } from '../base/disposable.ts';
import type { CallName, InputOf, ItemOf, OutputOf, StreamName } from './contract.ts';
import { contract } from './contract.ts';
import { ContractError, fromFailure } from './failure.ts';
import { say, verbatim, type Said } from './sentences/said.ts';
import { hostMessage, type ClientMessage } from './messages.ts';
import type { CallShape, StreamShape } from './shape.ts';

export interface StreamListener<Item> {
  /** Items in the order the host sent them. Room for the next batch is granted when this returns. */
  onBatch(items: readonly Item[]): void;
  /** Once, unless disposed before; `error` is absent when the host ended the stream on its own. */
  onEnd(error?: ContractError): void;
}

/** What the console asks its host. A lost connection rejects every open call and ends every stream. */
export interface Client {
  call<N extends CallName>(name: N, input: InputOf<N>): Promise<OutputOf<N>>;
  open<N extends StreamName>(name: N, input: InputOf<N>, listener: StreamListener<ItemOf<N>>): Disposable;
}

export interface ClientConnection extends Client {
  receive(message: unknown): void;
  /** The wire is gone. */
  close(why: string): void;
}

interface PendingCall {
  readonly shape: CallShape;
  readonly resolve: (value: never) => void;
  readonly reject: (error: ContractError) => void;
}

interface PendingStream {
  readonly shape: StreamShape;
  readonly listener: StreamListener<never>;
}

export const connectClient = (
  post: (message: ClientMessage) => void,
  tell?: (what: Said) => string,
): ClientConnection => {
  const calls = new Map<number, PendingCall>();
  const streams = new Map<number, PendingStream>();
  let lastId = 0;
  let closedWhy: string | undefined;

  const lost = (): ContractError =>
    new ContractError('Unavailable', closedWhy === undefined ? say('failure.closed') : verbatim(closedWhy));

  const onResult = (id: number, value: unknown): void => {
    const pending = calls.get(id);
    calls.delete(id);
    if (!pending) return;
    const parsed = v.safeParse(pending.shape.output, value);
    if (parsed.success) pending.resolve(parsed.output as never);
    else
      pending.reject(
        new ContractError('Internal', verbatim(`answer out of contract: ${v.summarize(parsed.issues)}`)),
      );
  };

  const onBatch = (id: number, items: readonly unknown[]): void => {
    const pending = streams.get(id);
    if (!pending) return;
    // The host has checked every item; checking ten thousand rows again would cost the frame.
    pending.listener.onBatch(items as readonly never[]);
    if (streams.has(id)) post({ kind: 'credit', id });
  };

  const onEnd = (id: number, error?: ContractError): void => {
    const pending = streams.get(id);
    streams.delete(id);
    pending?.listener.onEnd(error);
  };

  return {
    call(name, input) {
      return new Promise((resolve, reject) => {
        if (closedWhy !== undefined) return reject(lost());
        const id = (lastId += 1);
        calls.set(id, { shape: contract[name] as CallShape, resolve, reject });
        post({ kind: 'call', id, name, input });
      });
    },
    open(name, input, listener) {
      const id = (lastId += 1);
      if (closedWhy !== undefined) {
        const error = lost();
        queueMicrotask(() => listener.onEnd(error));
        return { dispose() {} };
      }
      streams.set(id, { shape: contract[name] as StreamShape, listener });
      post({ kind: 'open', id, name, input });
      return {
        dispose() {
          if (streams.delete(id) && closedWhy === undefined) post({ kind: 'close', id });
        },
      };
    },
    receive(raw) {
      const parsed = v.safeParse(hostMessage, raw);
      if (!parsed.success) return;
      const message = parsed.output;
      switch (message.kind) {
        case 'result':
          return onResult(message.id, message.value);
        case 'failure': {
          const pending = calls.get(message.id);
          calls.delete(message.id);
          if (pending) pending.reject(fromFailure(message.failure, tell));
          else onEnd(message.id, fromFailure(message.failure, tell));
          return;
        }
        case 'batch':
          return onBatch(message.id, message.items);
        case 'end':
          return onEnd(message.id, message.failure && fromFailure(message.failure, tell));
      }
    },
    close(why) {
      if (closedWhy !== undefined) return;
      closedWhy = why;
      for (const [id, pending] of [...calls]) {
        calls.delete(id);
        pending.reject(lost());
      }
      for (const id of [...streams.keys()]) onEnd(id, lost());
    },
  };
};
