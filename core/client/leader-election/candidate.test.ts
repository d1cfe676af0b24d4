import { expect, test } from 'vitest';
import { forbidden } from '../../api/meta/status-errors.ts';
import { silentLog } from '../../base/log.ts';
import { LEASE } from '../kinds.ts';
import { FakeApi } from '../testing/index.ts';
import { runElection } from './run-election.ts';

const stand = (api: FakeApi, identity: string) => {
  const stop = new AbortController();
  const seen = { isLeading: false };
  const done = runElection(
    {
      client: api.client(identity),
      clock: api.clock,
      random: api.random,
      log: silentLog,
      lease: { namespace: 'kube-system', name: 'test' },
      identity,
      lead: ({ signal }) => {
        seen.isLeading = true;
        return new Promise((resolve) => signal.addEventListener('abort', () => resolve()));
      },
    },
    stop.signal,
  );
  return { seen, done, stop };
};

const verbsOf = (api: FakeApi, who: string): readonly string[] => [
  ...new Set(api.requests.filter(({ userAgent }) => userAgent === who).map(({ verb }) => verb)),
];

const twoCandidates = async (api: FakeApi) => {
  const a = stand(api, 'a');
  await api.settle();
  const b = stand(api, 'b');
  await api.advance(6_000, 250);
  api.forgetRequests();
  return { a, b };
};

test('a waiting candidate that watches renewals sends no requests, and acquires the lease when it is released', async () => {
  const api = new FakeApi();
  const { a, b } = await twoCandidates(api);
  await api.advance(60_000, 250);
  expect(verbsOf(api, 'b')).toEqual([]);
  a.stop.abort();
  await a.done;
  await api.settle();
  expect(b.seen.isLeading).toBe(true);
  b.stop.abort();
  await b.done;
  expect([api.watchesCount, api.clock.pendingCount]).toEqual([0, 0]);
});

/** The one gives the lease up, the other has it within a second, and both end. */
const expectTakeOver = async (
  api: FakeApi,
  { a, b }: Awaited<ReturnType<typeof twoCandidates>>,
): Promise<void> => {
  a.stop.abort();
  await a.done;
  await api.advance(1_000, 250);
  expect(b.seen.isLeading).toBe(true);
  b.stop.abort();
  await b.done;
};

test('a candidate without permission to watch polls the lease', async () => {
  const api = new FakeApi();
  api.intercept(({ verb }) => {
    if (verb === 'watch')
      throw forbidden({ group: 'coordination.k8s.io', resource: LEASE.plural }, 'test', 'no watching');
  });
  const { a, b } = await twoCandidates(api);
  await api.advance(3_000, 250);
  expect(verbsOf(api, 'b')).toEqual(['get']);
  await expectTakeOver(api, { a, b });
});

test('a watch that was cut does not hide a lease that is given up', async () => {
  const api = new FakeApi();
  const { a, b } = await twoCandidates(api);
  api.endWatches('cut', LEASE.plural);
  await expectTakeOver(api, { a, b });
});
