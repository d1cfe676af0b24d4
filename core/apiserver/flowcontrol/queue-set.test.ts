import { describe, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { allocateSeats, SeatDemand } from './allocation.ts';
import { QueueSet, type Ticket, type Work } from './queue-set.ts';
import { dealHand } from './shuffle-sharding.ts';

const ONE: Work = { initialSeats: 1, finalSeats: 0, finalSeconds: 0 };
const QUEUING = { queues: 8, handSize: 1, lengthMax: 3 };

const setup = (seats: number, queues: typeof QUEUING | 'none' = QUEUING) => {
  const clock = manualClock();
  const set = new QueueSet(clock, { queuing: queues === 'none' ? undefined : queues, seats });
  const order: string[] = [];
  const tickets = new Map<string, Ticket>();
  /** A hand of one card: the hash is the queue. */
  const start = (name: string, queue: number, work: Work = ONE): string => {
    const ticket = set.start({ work, hash: queue, description: name, onDispatched: () => order.push(name) });
    if (typeof ticket === 'string') return ticket;
    tickets.set(name, ticket);
    return ticket.isExecuting ? 'executing' : 'waiting';
  };
  const finish = (name: string): void => tickets.get(name)!.finish();
  return { clock, set, order, tickets, start, finish };
};

test('requests wait when the seats are taken, and execute in order as others finish', () => {
  const { start, finish, order } = setup(1);
  expect([start('a', 0), start('b', 0), start('c', 0)]).toEqual(['executing', 'waiting', 'waiting']);
  finish('a');
  finish('b');
  expect(order).toEqual(['b', 'c']);
});

test('a queue that is full rejects, and another does not', () => {
  const { start } = setup(1);
  const flood = Array.from({ length: 6 }, (_, at) => start(`a${at}`, 0));
  expect(flood).toEqual(['executing', 'waiting', 'waiting', 'waiting', 'queue-full', 'queue-full']);
  expect(start('b', 1)).toBe('waiting');
});

test('a flow that comes late is served before the flood of another', () => {
  const { clock, start, finish, order } = setup(1, { queues: 8, handSize: 1, lengthMax: 50 });
  for (let at = 0; at < 20; at += 1) start(`flood${at}`, 0);
  for (let at = 0; at < 3; at += 1) {
    clock.advance(10);
    finish(at === 0 ? 'flood0' : order.at(-1)!);
  }
  start('late', 1);
  clock.advance(10);
  finish(order.at(-1)!);
  expect(order.at(-1)).toBe('late');
});

test('two flows that both have work share the seats evenly', () => {
  const { clock, start, finish, order } = setup(1, { queues: 8, handSize: 1, lengthMax: 50 });
  start('first', 7);
  for (let at = 0; at < 10; at += 1) start(`a${at}`, 0);
  for (let at = 0; at < 10; at += 1) start(`b${at}`, 1);
  finish('first');
  for (let at = 0; at < 9; at += 1) {
    clock.advance(10);
    finish(order.at(-1)!);
  }
  const ofA = order.filter((name) => name.startsWith('a')).length;
  expect([order.length, ofA]).toEqual([10, 5]);
});

test('a wide request takes all of its seats, and waits until they are free', () => {
  const { set, start, finish, order } = setup(3);
  expect([start('a', 0), start('wide', 1, { ...ONE, initialSeats: 3 })]).toEqual(['executing', 'waiting']);
  finish('a');
  expect([order, set.counts.seatsInUse]).toEqual([['wide'], 3]);
});

test('a request that is wider than the level executes alone', () => {
  const { start } = setup(2);
  expect(start('wide', 0, { ...ONE, initialSeats: 5 })).toBe('executing');
  expect(start('a', 1)).toBe('waiting');
});

test('seats of a write are held for a moment after it, while watchers are notified', () => {
  const { clock, start, finish, order } = setup(2);
  start('write', 0, { initialSeats: 1, finalSeats: 2, finalSeconds: 0.05 });
  start('next', 1);
  finish('write');
  expect(order).toEqual([]);
  clock.advance(50);
  expect(order).toEqual(['next']);
});

test('a request that gave up leaves its queue, and finishing it later changes nothing', () => {
  const { set, start, finish, order, tickets } = setup(1);
  start('a', 0);
  start('b', 0);
  start('c', 0);
  tickets.get('b')!.cancel();
  finish('b');
  finish('a');
  finish('a');
  expect([order, set.counts]).toMatchObject([
    ['c'],
    { waiting: 0, executing: 1, seatsInUse: 1, timedOut: 1 },
  ]);
});

test('without queues what does not fit is rejected', () => {
  const { start } = setup(1, 'none');
  expect([start('a', 0), start('b', 0)]).toEqual(['executing', 'concurrency-limit']);
});

test('an exempt level has no limit', () => {
  const { start } = setup(Infinity, 'none');
  expect(
    Array.from({ length: 100 }, (_, at) => start(String(at), 0)).every((one) => one === 'executing'),
  ).toBe(true);
});

test('more seats serve who waits, and fewer queues serve what is in them first', () => {
  const { set, start, finish, order } = setup(1);
  for (const [at, name] of ['a', 'b', 'c'].entries()) start(name, 5 + at);
  set.configure({ queuing: QUEUING, seats: 2 });
  expect(order).toEqual(['b']);
  set.configure({ queuing: { ...QUEUING, queues: 2 }, seats: 2 });
  finish('a');
  expect(order).toEqual(['b', 'c']);
});

describe('shuffle sharding', () => {
  test.each([0, 1, 12345, 2 ** 47 + 7])('a hand has different cards of the deck: %i', (hash) => {
    const hand = dealHand(hash, 64, 6);
    expect([new Set(hand).size, hand.every((card) => card >= 0 && card < 64)]).toEqual([6, true]);
  });

  test('every card is dealt about as often', () => {
    const counts = new Array<number>(8).fill(0);
    for (let hash = 0; hash < 8 * 7 * 6; hash += 1)
      for (const card of dealHand(hash, 8, 3)) counts[card]! += 1;
    expect(new Set(counts)).toEqual(new Set([126]));
  });
});

describe('allocation', () => {
  test('seats are shared by demand within the bounds', () => {
    const { seats } = allocateSeats(100, [
      { lowerBound: 10, upperBound: 200, target: 100 },
      { lowerBound: 30, upperBound: 200, target: 30 },
      { lowerBound: 0, upperBound: 5, target: 100 },
    ])!;
    expect(seats.map(Math.round)).toEqual([65, 30, 5]);
  });

  test('bounds that leave no solution are reported', () => {
    expect(allocateSeats(10, [{ lowerBound: 20, upperBound: 30, target: 20 }])).toBeUndefined();
  });

  test('demand is averaged over time, and forgotten slowly', () => {
    const demand = new SeatDemand(0);
    demand.set(10, 0);
    demand.set(0, 5_000);
    demand.endPeriod(10_000);
    expect([demand.average, demand.deviation, demand.highWatermark, demand.smoothed]).toEqual([5, 5, 10, 10]);
    demand.endPeriod(20_000);
    expect([demand.average, Math.round(demand.smoothed * 100)]).toEqual([0, 977]);
  });
});
