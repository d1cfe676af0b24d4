import { expect, test } from 'vitest';
import { SERVING_STATUS } from '../../proto/index.ts';
import type { OutgoingStream } from '../grpc/method.ts';
import { healthMethods, ServingState } from './health.ts';

const watching = (state: ServingState, service: string) => {
  const sent: unknown[] = [];
  const abort = new AbortController();
  const stream = {
    get over() {
      return abort.signal.aborted;
    },
    signal: abort.signal,
    send: (message: unknown) => sent.push(message),
  } as unknown as OutgoingStream<unknown>;
  const watch = healthMethods(state).find(({ method }) => method === 'Watch')!;
  const ended =
    watch.type === 'server_stream' ? watch.handle({ service }, stream) : Promise.reject(new Error());
  return { sent, abort, ended };
};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('every watcher is notified of every change once', async () => {
  const state = new ServingState();
  const { sent, abort, ended } = watching(state, '');
  for (const isServing of [false, false, true]) {
    state.set(isServing);
    await turn();
  }
  abort.abort();
  await ended;
  const { SERVING, NOT_SERVING } = SERVING_STATUS;
  expect(sent).toEqual([{ status: SERVING }, { status: NOT_SERVING }, { status: SERVING }]);
});

test('a service of another name is unknown and stays so', async () => {
  const state = new ServingState();
  const { sent, abort, ended } = watching(state, 'etcdserverpb.KV');
  state.set(false);
  await turn();
  abort.abort();
  await ended;
  expect(sent).toEqual([{ status: SERVING_STATUS.SERVICE_UNKNOWN }]);
});
