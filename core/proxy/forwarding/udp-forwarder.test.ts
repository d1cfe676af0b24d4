import { afterEach, expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { eventually, testNetwork, udpClient, udpNamed } from './testing/sockets.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { targetAt, type Target } from './target.ts';
import { UdpForwarder } from './udp-forwarder.ts';

const NET = testNetwork(0);
const FRONT = `${NET}.2.1`;
const BACK = `${NET}.2.2`;
const PORT = 4100;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const forward = async (targets: readonly Target[], sessionsMax = 100) => {
  const clock = manualClock();
  const budget = new ConnectionBudget(1000);
  let turn = 0;
  const failures: string[] = [];
  const forwarder = new UdpForwarder({
    clock,
    budget,
    sessionsMax,
    pick: () => targets[turn++ % Math.max(1, targets.length)],
    observer: { connectFailed: ({ name }) => failures.push(name) },
  });
  await forwarder.listen(FRONT, PORT);
  closers.push(() => forwarder.destroy());
  return { forwarder, clock, budget, failures };
};

const named = async (port: number, name: string) => {
  const server = await udpNamed(BACK, port, name);
  closers.push(() => server.close());
  return targetAt(BACK, port);
};

const client = () => {
  const made = udpClient(FRONT, PORT);
  closers.push(() => made.close());
  return made;
};

test('a client stays with its target, and another gets the next', async () => {
  await forward([await named(5101, 'a'), await named(5102, 'b')]);
  const [one, two] = [client(), client()];
  expect([await one.ask('1'), await two.ask('2'), await one.ask('3'), await two.ask('4')]).toEqual([
    'a:1',
    'b:2',
    'a:3',
    'b:4',
  ]);
});

test('an exchange is forgotten after 30 seconds, a conversation after 120', async () => {
  const { forwarder, clock, budget } = await forward([await named(5103, 'a')]);
  const [short, long] = [client(), client()];
  await short.ask('1');
  for (const message of ['1', '2', '3']) await long.ask(message);
  clock.advance(36_000);
  expect(forwarder.connectionsCount).toBe(1);
  clock.advance(90_000);
  expect({ sessions: forwarder.connectionsCount, open: budget.open }).toEqual({ sessions: 0, open: 0 });
});

test('the session that was idle longest makes room for a new one', async () => {
  const { forwarder } = await forward([await named(5104, 'a'), await named(5105, 'b')], 2);
  const [one, two, three] = [client(), client(), client()];
  await one.ask('1');
  await two.ask('1');
  await one.ask('2');
  await three.ask('1');
  expect(forwarder.connectionsCount).toBe(2);
  // The first session still exists; the second picks again, and it is the other target's turn.
  expect([await one.ask('3'), await two.ask('2')]).toEqual(['a:3', 'b:2']);
});

test('sessions of a removed target end, and the client is assigned another', async () => {
  const { forwarder } = await forward([await named(5106, 'a'), await named(5107, 'b')]);
  const one = client();
  expect(await one.ask('1')).toBe('a:1');
  expect(forwarder.resetTargets(({ port }) => port === 5106)).toBe(1);
  expect(await one.ask('2')).toBe('b:2');
});

test('a port where no one listens ends the session', async () => {
  const { forwarder, failures } = await forward([targetAt(BACK, 5998), await named(5108, 'b')]);
  const one = client();
  one.send('lost');
  await eventually(() => failures.length === 1);
  expect(forwarder.connectionsCount).toBe(0);
  expect(await one.ask('2')).toBe('b:2');
});

test('a target that cannot even be connected to ends the session', async () => {
  const { forwarder, failures } = await forward([targetAt('255.255.255.255', 9), await named(5109, 'b')]);
  const one = client();
  one.send('lost');
  await eventually(() => failures.length === 1);
  expect(forwarder.connectionsCount).toBe(0);
  expect(await one.ask('2')).toBe('b:2');
});
