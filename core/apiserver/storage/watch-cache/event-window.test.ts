import { expect, test } from 'vitest';
import { CacheEvent, CachedObject } from './cached-object.ts';
import { EventWindow } from './event-window.ts';

const event = (revision: number): CacheEvent<string> =>
  new CacheEvent('ADDED', new CachedObject(`/r/${revision}`, new Uint8Array(), revision, 'x'), undefined);
const windowOf = (bounds = { eventsMin: 2, eventsMax: 8, freshMs: 1000, keptMs: 5000 }) => {
  const window = new EventWindow<string>(bounds);
  window.reset(10);
  return window;
};
const kept = (window: EventWindow<string>): number[] =>
  Array.from({ length: window.nextSeq - window.firstSeq }, (_, i) => window.at(window.firstSeq + i).revision);

test('young events are kept by growing, up to the bound', () => {
  const window = windowOf();
  for (let revision = 11; revision <= 21; revision += 1) window.push(event(revision), revision);
  expect([window.capacity, window.floorRevision, kept(window)]).toEqual([
    8,
    13,
    [14, 15, 16, 17, 18, 19, 20, 21],
  ]);
});

test('a window of old events shrinks and says from where on it knows all', () => {
  const window = windowOf();
  for (let revision = 11; revision <= 18; revision += 1) window.push(event(revision), 0);
  window.push(event(19), 5000);
  expect([window.capacity, window.floorRevision, kept(window)]).toEqual([4, 15, [16, 17, 18, 19]]);
});

test('the first event after a revision is found, also between revisions and among equal ones', () => {
  const window = windowOf();
  for (const revision of [12, 14, 14, 17]) window.push(event(revision), 0);
  expect([10, 12, 13, 14, 17].map((revision) => window.firstAfter(revision))).toEqual([0, 1, 1, 3, 4]);
});

test('sequence numbers continue after a reset', () => {
  const window = windowOf();
  window.push(event(11), 0);
  window.reset(30);
  expect([window.push(event(31), 0), window.firstSeq, window.floorRevision]).toEqual([1, 1, 30]);
});

test('old events are evicted down to the minimum, and the capacity shrinks', () => {
  const window = windowOf();
  for (let revision = 11; revision <= 18; revision += 1) window.push(event(revision), revision);
  window.trim(5014);
  const before = [window.capacity, window.floorRevision, kept(window)];
  window.trim(9000);
  expect([before, [window.capacity, window.floorRevision, kept(window)]]).toEqual([
    [8, 14, [15, 16, 17, 18]],
    [4, 16, [17, 18]],
  ]);
});
