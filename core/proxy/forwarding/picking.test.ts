import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import { seededRandom } from '../../base/random.ts';
import { RoundRobin } from './round-robin.ts';
import { SessionAffinity } from './session-affinity.ts';
import { targetAt } from './target.ts';

const TARGETS = ['a', 'b', 'c'].map((host) => targetAt(host, 1));
const NONE = new Set<string>();
const hosts = (robin: RoundRobin, count: number, affinity?: SessionAffinity) =>
  Array.from({ length: count }, () => robin.pick(TARGETS, 'client', NONE, affinity)!.host);

test('each target has its turn', () => {
  const robin = new RoundRobin(seededRandom(3));
  const seen = hosts(robin, 6);
  expect([new Set(seen.slice(0, 3)).size, seen.slice(3)]).toEqual([3, seen.slice(0, 3)]);
});

test('tried backends are skipped until none is left', () => {
  const robin = new RoundRobin(seededRandom(3));
  const tried = new Set<string>();
  for (let left = 3; left > 0; left -= 1) tried.add(robin.pick(TARGETS, 'client', tried)!.name);
  expect([tried.size, robin.pick(TARGETS, 'client', tried)]).toEqual([3, undefined]);
});

test('a client keeps its target until it has been away for the timeout', () => {
  const clock = manualClock();
  const affinity = new SessionAffinity({ clock, timeoutMs: 10_000 });
  const robin = new RoundRobin(seededRandom(3));
  const [first] = hosts(robin, 1, affinity);
  clock.advance(9_000);
  expect(hosts(robin, 2, affinity)).toEqual([first, first]);
  clock.advance(9_000);
  expect(hosts(robin, 1, affinity)).toEqual([first]);
  clock.advance(10_000);
  expect(hosts(robin, 1, affinity)).not.toEqual([first]);
});

test('a client whose target cannot be reached is bound to the next', () => {
  const affinity = new SessionAffinity({ clock: manualClock(), timeoutMs: 10_000 });
  const robin = new RoundRobin(seededRandom(3));
  const first = robin.pick(TARGETS, 'client', NONE, affinity)!;
  const next = robin.pick(TARGETS, 'client', new Set([first.name]), affinity)!;
  expect([next === first, hosts(robin, 1, affinity)]).toEqual([false, [next.host]]);
});

test('the client that was away longest is forgotten when there are too many', () => {
  const affinity = new SessionAffinity({ clock: manualClock(), timeoutMs: 10_000, clientsMax: 2 });
  affinity.bind('x', '1');
  affinity.bind('y', '2');
  affinity.bind('x', '1');
  affinity.bind('z', '3');
  expect(['x', 'y', 'z'].map((client) => affinity.find(client))).toEqual(['1', undefined, '3']);
});
