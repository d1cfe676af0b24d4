import { inject, shallowRef, type InjectionKey, type ShallowRef } from 'vue';
import {
  type CallName,
  type Client,
  type ClientConnection,
  connectClient,
  ContractError,
  type InputOf,
  type OutputOf,
  say,
} from '../../core/contract/index.ts';
import { retryDelayMs } from './backoff.ts';
import type { Transport, Wire } from './transport.ts';
import { tell } from '../locales/i18n.ts';

export type ConnectionState =
  | { readonly phase: 'connecting' }
  | { readonly phase: 'live'; readonly sinceMs: number }
  /** `retryAtMs` is absent while an attempt is in progress. */
  | {
      readonly phase: 'lost';
      readonly sinceMs: number;
      readonly why: string;
      readonly attempt: number;
      readonly retryAtMs?: number;
    };

/** The console's one way to its host, over a wire that may come and go. */
export interface Connection {
  readonly shell: Transport['shell'];
  readonly state: Readonly<ShallowRef<ConnectionState>>;
  /** Changes identity with every new wire: anyone who holds streams opens them again. */
  readonly client: Readonly<ShallowRef<Client | undefined>>;
  /** Rejects with `Unavailable` while the host is out of reach. */
  call<N extends CallName>(name: N, input: InputOf<N>): Promise<OutputOf<N>>;
  retryNow(): void;
  dispose(): void;
}

export interface ConnectionOptions {
  readonly random?: () => number;
  readonly nowMs?: () => number;
}

export const openConnection = (transport: Transport, options: ConnectionOptions = {}): Connection => {
  const random = options.random ?? Math.random;
  const nowMs = options.nowMs ?? Date.now;
  const state = shallowRef<ConnectionState>({ phase: 'connecting' });
  const client = shallowRef<Client>();
  let contract: ClientConnection | undefined;
  let wire: Wire | undefined;
  let retryTimer: ReturnType<typeof setTimeout> | undefined;
  let disposed = false;

  const onLost = (why: string): void => {
    client.value = undefined;
    contract?.close(why);
    contract = undefined;
    wire = undefined;
    const before = state.value;
    const attempt = before.phase === 'lost' ? before.attempt + 1 : 0;
    const delayMs = retryDelayMs(attempt, random);
    state.value = {
      phase: 'lost',
      sinceMs: before.phase === 'lost' ? before.sinceMs : nowMs(),
      why,
      attempt,
      retryAtMs: nowMs() + delayMs,
    };
    retryTimer = setTimeout(connect, delayMs);
  };

  const connect = (): void => {
    clearTimeout(retryTimer);
    if (disposed || wire) return;
    const before = state.value;
    if (before.phase === 'lost')
      state.value = { phase: 'lost', sinceMs: before.sinceMs, why: before.why, attempt: before.attempt };
    const opened = transport.connect({
      onOpen() {
        contract = connectClient((message) => opened.send(message), tell);
        opened.send({ kind: 'hello' });
        state.value = { phase: 'live', sinceMs: nowMs() };
        client.value = contract;
      },
      onMessage: (message) => contract?.receive(message),
      onClosed: onLost,
    });
    wire = opened;
  };

  connect();
  return {
    shell: transport.shell,
    state,
    client,
    call(name, input) {
      const now = client.value;
      if (now) return now.call(name, input);
      return Promise.reject(
        new ContractError('Unavailable', say('failure.notConnected'), {
          message: tell(say('failure.notConnected')),
        }),
      );
    },
    retryNow: connect,
    dispose() {
      disposed = true;
      clearTimeout(retryTimer);
      client.value = undefined;
      contract?.close('the console was closed');
      wire?.close();
    },
  };
};

export const connectionKey: InjectionKey<Connection> = Symbol('connection');

export const useConnection = (): Connection => {
  const connection = inject(connectionKey);
  if (!connection) throw new Error('no connection was provided to this app');
  return connection;
};
