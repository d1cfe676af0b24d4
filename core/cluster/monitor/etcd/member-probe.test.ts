import { createServer, type Server } from 'node:net';
import { say, inEnglish } from '../../../contract/index.ts';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../../base/manual-clock.ts';
import { MemberProbe } from './member-probe.ts';

/** Takes connections and says nothing, as a frozen member does. */
let frozen: Server;
let url: string;

beforeEach(async () => {
  frozen = createServer();
  await new Promise<void>((resolve) => frozen.listen(0, '127.0.0.1', resolve));
  url = `https://127.0.0.1:${(frozen.address() as { port: number }).port}`;
});

afterEach(() => void frozen.close());

test('one question is open at a time, however often a frozen member is looked at', () => {
  const clock = manualClock();
  let connections = 0;
  const probe = new MemberProbe(
    url,
    () => {
      connections += 1;
      return { endpoints: [url], tls: {} };
    },
    clock,
  );
  for (let look = 0; look < 5; look += 1) {
    void probe.ask();
    clock.advance(1_000);
  }
  expect([connections, probe.status, probe.problem]).toEqual([1, undefined, say('failure.etcd.noResponse')]);
  probe.dispose();
});

test('a component that does not listen is down with a reason', async () => {
  await new Promise<void>((resolve) => frozen.close(() => resolve()));
  const probe = new MemberProbe(url, () => ({ endpoints: [url], tls: {} }), manualClock());
  await probe.ask();
  expect([probe.status, probe.problem && inEnglish(probe.problem)]).toEqual([
    undefined,
    expect.stringContaining('ECONNREFUSED'),
  ]);
  probe.dispose();
});
