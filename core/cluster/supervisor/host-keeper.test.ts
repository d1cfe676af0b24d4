import { expect, test } from 'vitest';
import { say, verbatim } from '../../contract/index.ts';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { HostKeeper, type HostCrash } from './host-keeper.ts';
import { RECOVERED_AFTER_MS, RESTARTS_IN_A_ROW_MAX, verdictOn } from './restart-policy.ts';

const kept = () => {
  const clock = manualClock();
  const started: string[] = [];
  const crashes: HostCrash[] = [];
  const left: string[] = [];
  const world = { isBusy: false, isUnsettled: false };
  const keeper = new HostKeeper({
    clock,
    log: silentLog,
    isBusy: () => world.isBusy,
    isUnsettled: () => Promise.resolve(world.isUnsettled),
    start: (host) => {
      started.push(host);
      keeper.started(host);
      return Promise.resolve();
    },
    onCrash: (crash) => crashes.push(crash),
    onLeft: (host) => left.push(host),
  });
  keeper.started('cp-1');
  const pass = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { keeper, started, crashes, left, world, pass, clock };
};

test('pauses double up to a bound, and after the last restart a host stays down', () => {
  const exits = Array.from({ length: RESTARTS_IN_A_ROW_MAX + 1 }, (_, index) => verdictOn(index + 1));
  expect(exits.map((verdict) => (verdict.kind === 'restart' ? verdict.delayMs : verdict.kind))).toEqual([
    1_000,
    2_000,
    4_000,
    8_000,
    16_000,
    'stay-down',
  ]);
});

test('a host that exits is started again after the pause, and says why and how often', async () => {
  const { keeper, started, crashes, pass, clock } = kept();
  await pass(5_000);
  keeper.exited('cp-1', verbatim('terminated by SIGKILL'));
  expect(started).toEqual([]);
  await pass(1_000);
  expect(started).toEqual(['cp-1']);
  expect(crashes).toEqual([
    {
      host: 'cp-1',
      reason: verbatim('terminated by SIGKILL'),
      outcome: say('exit.restarting', { seconds: 1, attempt: 1, max: 5 }),
      isGivenUp: false,
    },
  ]);
  expect(keeper.restartsOf('cp-1')).toEqual({
    restarts: 1,
    lastExit: { reason: verbatim('terminated by SIGKILL'), atMs: clock.nowMs() - 1_000, isGivenUp: false },
  });
});

test('one that exits again and again stays down and says what to do', async () => {
  const { keeper, started, crashes, pass } = kept();
  for (let exits = 0; exits <= RESTARTS_IN_A_ROW_MAX; exits += 1) {
    keeper.exited('cp-1', verbatim('terminated by SIGSEGV'));
    await pass(60_000);
  }
  expect([started.length, crashes.at(-1)]).toEqual([
    RESTARTS_IN_A_ROW_MAX,
    {
      host: 'cp-1',
      reason: verbatim('terminated by SIGSEGV'),
      outcome: say('exit.staysDown', { count: 6, host: 'cp-1' }),
      isGivenUp: true,
    },
  ]);
});

test('a host that has run long enough begins with the shortest pause', async () => {
  const { keeper, crashes, pass } = kept();
  keeper.exited('cp-1', verbatim('terminated by SIGSEGV'));
  await pass(1_000);
  await pass(RECOVERED_AFTER_MS);
  keeper.exited('cp-1', verbatim('terminated by SIGSEGV'));
  expect(crashes.at(-1)?.outcome).toEqual(say('exit.restarting', { seconds: 1, attempt: 1, max: 5 }));
});

test('an action of a person replaces a scheduled restart', async () => {
  const { keeper, started, pass } = kept();
  keeper.exited('cp-1', verbatim('terminated by SIGKILL'));
  expect([keeper.release('cp-1'), keeper.release('cp-1')]).toEqual([true, false]);
  keeper.exited('cp-1', verbatim('terminated by SIGKILL'));
  keeper.started('cp-1');
  await pass(60_000);
  expect(started).toEqual([]);
});

test('nothing is started while an operation works on hosts, nor a host that is joining or leaving', async () => {
  const { keeper, started, left, world, pass } = kept();
  world.isBusy = true;
  keeper.exited('cp-1', verbatim('terminated by SIGKILL'));
  await pass(1_000);
  await pass(1_000);
  expect(started).toEqual([]);
  world.isBusy = false;
  await pass(1_000);
  expect(started).toEqual(['cp-1']);
  world.isUnsettled = true;
  keeper.exited('cp-1', verbatim('terminated by SIGKILL'));
  await pass(60_000);
  expect([started, left]).toEqual([['cp-1'], ['cp-1']]);
});

test('after the end of the cluster nothing is restarted', async () => {
  const { keeper, started, pass } = kept();
  keeper.exited('cp-1', verbatim('terminated by SIGKILL'));
  keeper.dispose();
  keeper.exited('cp-1', verbatim('terminated by SIGKILL'));
  await pass(60_000);
  expect(started).toEqual([]);
});
