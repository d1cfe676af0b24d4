import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { Ticker, TICKS_ASLEEP_MAX } from './ticker.ts';

const TICK_MS = 100;

/** A Raft timeout that `hear` restarts, and the times at which it expired or the member was awake. */
const setup = ({ waitTicks = 10, isBusy = false } = {}) => {
  const clock = manualClock();
  const state = { elapsedTicks: 0, heldUpMs: 0, overAtMs: [] as number[], awakeAtMs: [] as number[] };
  const monotonicMs = (): number => clock.monotonicMs() + state.heldUpMs;
  const ticker = new Ticker({
    clock: { ...clock, monotonicMs },
    random: { next: () => 0, below: () => 0 },
    tickMs: TICK_MS,
    ticksUntilDue: () => Math.max(1, waitTicks - state.elapsedTicks),
    isBusy: () => isBusy,
    tick() {
      state.elapsedTicks += 1;
      if (state.elapsedTicks === waitTicks) state.overAtMs.push(monotonicMs());
    },
    awake: (nowMs) => state.awakeAtMs.push(nowMs),
  });
  ticker.start();
  const hear = (): void => {
    ticker.catchUp();
    state.elapsedTicks = 0;
  };
  return { clock, state, ticker, hear };
};

test('a follower that hears its leader at every tick is awake for a part of them, and its wait is never over', () => {
  const { clock, state, hear } = setup();
  for (let beat = 0; beat < 100; beat += 1) {
    clock.advance(TICK_MS);
    hear();
  }
  expect({ over: state.overAtMs, awakenings: state.awakeAtMs.length }).toEqual({
    over: [],
    awakenings: 100 / TICKS_ASLEEP_MAX,
  });
});

test('a wait is over after as many ticks as it has, whenever it began', () => {
  const ends = [0, 30, 199, 200, 250, 399, 401].map((heardAtMs) => {
    const { clock, state, hear } = setup();
    clock.advance(heardAtMs);
    hear();
    clock.advance(1_900);
    return Math.ceil((state.overAtMs[0]! - heardAtMs) / TICK_MS);
  });
  expect(ends).toEqual([10, 10, 10, 10, 10, 10, 10]);
});

test('a timer due at the next tick is not missed', () => {
  const { clock, state } = setup({ waitTicks: 1 });
  clock.advance(3 * TICK_MS);
  expect(state.awakeAtMs).toEqual([100, 200, 300]);
});

test('a node with waiting callers runs at every tick', () => {
  const { clock, state } = setup({ isBusy: true });
  clock.advance(3 * TICK_MS);
  expect(state.awakeAtMs).toEqual([100, 200, 300]);
});

test('ticks that a process which was held up has missed do not count', () => {
  const { clock, state } = setup();
  clock.advance(TICK_MS);
  state.heldUpMs = 60_000;
  clock.advance(3 * TICK_MS);
  const afterTimer = state.elapsedTicks;
  clock.advance(10 * TICK_MS);
  expect({ afterTimer, over: state.overAtMs }).toEqual({ afterTimer: TICKS_ASLEEP_MAX, over: [61_000] });
});

test('a message that is read before the late timer runs ends the wait it speaks of, not the member', () => {
  const { clock, state, hear } = setup();
  clock.advance(TICK_MS);
  state.heldUpMs = 60_000;
  hear();
  clock.advance(9 * TICK_MS);
  const before = state.overAtMs.length;
  clock.advance(TICK_MS);
  expect({ before, over: state.overAtMs }).toEqual({ before: 0, over: [61_100] });
});

test('a new role waits from its beginning', () => {
  const { clock, state, ticker } = setup();
  clock.advance(350);
  state.elapsedTicks = 9;
  ticker.restart();
  clock.advance(100);
  expect(state.overAtMs).toEqual([400]);
});

test('nothing ticks after it is disposed', () => {
  const { clock, state, ticker } = setup();
  ticker.dispose();
  ticker.catchUp();
  ticker.restart();
  clock.advance(5_000);
  expect({ awake: state.awakeAtMs, pending: clock.pendingCount }).toEqual({ awake: [], pending: 0 });
});
