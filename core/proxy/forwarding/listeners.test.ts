import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { eventually, namedEcho, testNetwork, whoAnswers } from './testing/sockets.ts';
import { ConnectionBudget } from './connection-budget.ts';
import { Listeners, type Place } from './listeners.ts';
import { targetAt } from './target.ts';
import { TcpForwarder } from './tcp-forwarder.ts';
import { UdpForwarder } from './udp-forwarder.ts';

const NET = testNetwork(0);
const FRONT = `${NET}.3.1`;
const BACK = `${NET}.3.2`;

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const proxyTo = (port: number) => {
  const clock = manualClock();
  const budget = new ConnectionBudget(100);
  const listeners = new Listeners<TcpForwarder | UdpForwarder>({ clock, log: silentLog });
  closers.push(() => listeners.close());
  const options = { clock, budget, pick: () => targetAt(BACK, port) };
  const make = ({ protocol }: Place) =>
    protocol === 'TCP' ? new TcpForwarder(options) : new UdpForwarder(options);
  return {
    listeners,
    clock,
    want: (...places: Place[]) => Promise.all(places.map((place) => listeners.add(place, () => make(place)))),
  };
};

const tcp = (port: number): Place => ({ protocol: 'TCP', address: FRONT, port });
const udp = (port: number): Place => ({ protocol: 'UDP', address: FRONT, port });

test('the second user of an address is on standby and takes over when the first ends', async () => {
  const [a, b] = [await namedEcho(BACK, 5201, 'a'), await namedEcho(BACK, 5202, 'b')];
  closers.push(
    () => a.close(),
    () => b.close(),
  );
  const places = [
    ...Array.from({ length: 40 }, (_, index) => tcp(4200 + index)),
    ...Array.from({ length: 5 }, (_, index) => udp(4200 + index)),
  ];
  const first = proxyTo(5201);
  await first.want(...places);
  const second = proxyTo(5202);
  await second.want(...places);
  expect([first.listeners.count('listening'), second.listeners.count('standby')]).toEqual([45, 45]);
  expect(await whoAnswers(FRONT, 4239)).toBe('a');
  first.listeners.close();
  second.clock.advance(500);
  await eventually(() => second.listeners.count('listening') === 45);
  expect(await whoAnswers(FRONT, 4239)).toBe('b');
});

test('an address that is not of this machine is said to have failed', async () => {
  const one = proxyTo(1);
  const place: Place = { protocol: 'TCP', address: '192.0.2.1', port: 4300 };
  await one.want(place);
  expect(one.listeners.all).toEqual([
    { place, state: 'failed', error: expect.stringContaining('EADDRNOTAVAIL') },
  ]);
});

test('a place that is no longer wanted is given up, standing by or not', async () => {
  const one = proxyTo(1);
  const two = proxyTo(2);
  await one.want(tcp(4301));
  await two.want(tcp(4301));
  two.listeners.remove(tcp(4301));
  one.listeners.remove(tcp(4301));
  two.clock.advance(60_000);
  expect([await whoAnswers(FRONT, 4301), two.clock.pendingCount]).toEqual(['ECONNREFUSED', 0]);
});
