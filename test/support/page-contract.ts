import type { Page } from 'playwright-core';
import type {
  CallName,
  InputOf,
  ItemOf,
  LocalClusterState,
  Operation,
  OutputOf,
  StreamName,
} from '../../core/contract/index.ts';
import { until } from './until.ts';

/** Far above what the page's own client counts to, where they share a wire. */
const FIRST_ID = 2_000_000;

interface Followed {
  newest: unknown;
  failure: string | undefined;
}

interface PageWire {
  send(message: unknown): void;
  readonly answers: Map<number, (message: { kind: string; value?: unknown; failure?: unknown }) => void>;
  readonly followed: Map<number, Followed>;
}

declare global {
  interface Window {
    pageWire?: Promise<PageWire>;
  }
}

/** In the page: the preload bridge of the desktop app, or a WebSocket of its own in a browser. */
const installWire = (page: Page): Promise<void> =>
  page.evaluate(() => {
    window.pageWire ??= new Promise<PageWire>((resolve, reject) => {
      const answers: PageWire['answers'] = new Map();
      const followed: PageWire['followed'] = new Map();
      const hear = (raw: unknown): void => {
        const message = raw as { id: number; kind: string; items?: unknown[]; failure?: { message: string } };
        const stream = followed.get(message.id);
        if (stream && message.kind === 'batch') {
          stream.newest = message.items?.at(-1);
          wire.send({ kind: 'credit', id: message.id });
        } else if (stream && message.kind === 'end') stream.failure = message.failure?.message ?? 'ended';
        else answers.get(message.id)?.(message);
      };
      let send: (message: unknown) => void;
      const wire: PageWire = { send: (message) => send(message), answers, followed };
      const { pilothouse } = window;
      if (pilothouse) {
        pilothouse.listen(hear);
        send = (message) => pilothouse.send(message);
        resolve(wire);
        return;
      }
      const socket = new WebSocket(`wss://${location.host}/contract`);
      send = (message) => socket.send(JSON.stringify(message));
      socket.addEventListener('message', ({ data }) => hear(JSON.parse(String(data))));
      socket.addEventListener('open', () => resolve(wire));
      socket.addEventListener('error', () => reject(new Error('the contract cannot be reached')));
    });
  });

export interface PageContract {
  call<N extends CallName>(name: N, input: InputOf<N>): Promise<OutputOf<N>>;
  /** The newest item of a stream, asked for as often as one likes. */
  follow<N extends StreamName>(name: N, input: InputOf<N>): Promise<() => Promise<ItemOf<N>>>;
}

/** The contract as a page of the console speaks it, over whatever wire that page has. */
export const contractOf = async (page: Page): Promise<PageContract> => {
  await installWire(page);
  let lastId = FIRST_ID;
  return {
    async call(name, input) {
      const answer = await page.evaluate(
        async (message) => {
          const wire = await window.pageWire!;
          return new Promise<{ kind: string; value?: unknown; failure?: unknown }>((resolve) => {
            wire.answers.set(message.id, resolve);
            wire.send(message);
          });
        },
        { kind: 'call', id: (lastId += 1), name, input },
      );
      if (answer.kind === 'result') return answer.value as never;
      const { reason, message } = answer.failure as { reason: string; message: string };
      throw new Error(`${reason}: ${message}`);
    },
    async follow(name, input) {
      const id = (lastId += 1);
      await page.evaluate(
        async (message) => {
          const wire = await window.pageWire!;
          wire.followed.set(message.id, { newest: undefined, failure: undefined });
          wire.send(message);
        },
        { kind: 'open', id, name, input },
      );
      const read = () => page.evaluate(async (stream) => (await window.pageWire!).followed.get(stream)!, id);
      return async () =>
        until(`an item of ${name}`, async () => {
          const { newest, failure } = await read();
          if (failure !== undefined) throw new Error(`${name} ended: ${failure}`);
          return newest as never;
        });
    },
  };
};

/** A machine that runs other tests at the same time takes its time. */
const PHASE_LIMIT_MS = 300_000;

/** Resolves with the state in which a cluster has that phase; fails as soon as its start has failed. */
export const untilPhase = async (
  newest: () => Promise<LocalClusterState>,
  phase: LocalClusterState['phase'],
): Promise<LocalClusterState> => {
  const reached = await until(
    `phase ${phase}`,
    async () => {
      const state = await newest();
      return state.phase === phase || state.phase === 'failed' ? state : undefined;
    },
    PHASE_LIMIT_MS,
  );
  if (reached.phase !== phase) throw new Error(`the cluster failed: ${reached.message}`);
  return reached;
};

/** Begins an action and resolves with the operation when it is over. */
export const actAndWait = async (
  contract: PageContract,
  { cluster, action }: InputOf<'cluster.act'>,
  newest: () => Promise<Operation[]>,
): Promise<Operation> => {
  const { operation } = await contract.call('cluster.act', { cluster, action });
  return until(
    `the end of ${action.kind}`,
    async () => (await newest()).find(({ id, endedAtMs }) => id === operation && endedAtMs !== null),
    PHASE_LIMIT_MS,
  );
};
