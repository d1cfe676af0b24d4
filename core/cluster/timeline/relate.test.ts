import { expect, test } from 'vitest';
import { TIMELINE_ENTRIES_MAX } from '../../contract/index.ts';
import { Relater, relateAll } from './relate.ts';
import { entryOf } from './timeline-fixture.ts';

const causes = (entries: Parameters<typeof relateAll>[0]): Record<number, number | null> =>
  Object.fromEntries(relateAll(entries).map(({ id, cause }) => [id, cause]));

test('the death of a leader is traced from the command to the alert', () => {
  const story = [
    entryOf(1, 'action', ['cp-1']),
    entryOf(2, 'hostKilled', ['cp-1']),
    entryOf(3, 'memberDown', ['cp-1']),
    entryOf(4, 'noLeader', ['cp-1'], { endMs: 5_000 }),
    entryOf(5, 'leaderElected', ['cp-2']),
    entryOf(6, 'leaseMoved', ['kube-system/kube-scheduler', 'cp-1', 'cp-3']),
    entryOf(7, 'nodeNotReady', ['cp-1']),
    entryOf(8, 'event', ['default/web-5d4f-x2', 'cp-1']),
    entryOf(9, 'alert', []),
  ];
  expect(causes(story)).toEqual({ 1: null, 2: 1, 3: 2, 4: 3, 5: 4, 6: 2, 7: 2, 8: 7, 9: 7 });
});

test('an alert is led back to what happened to its instance, before what happened last', () => {
  const slowDisk = entryOf(1, 'fault', ['cp-2'], { isOpen: true });
  expect(
    causes([
      slowDisk,
      entryOf(2, 'hostKilled', ['workers']),
      entryOf(3, 'alert', ['cp-2']),
      entryOf(4, 'alert', []),
    ]),
  ).toMatchObject({ 3: 1, 4: 2 });
});

test('entries of another host or of a later time are not related', () => {
  expect(
    causes([
      entryOf(1, 'hostKilled', ['cp-1']),
      entryOf(2, 'memberDown', ['cp-2']),
      entryOf(3, 'leaseMoved', ['kube-system/a', 'cp-1', 'cp-2'], { atMs: 600_000 }),
    ]),
  ).toEqual({ 1: null, 2: null, 3: null });
});

test('a fault that lasts is a cause for as long as it lasts', () => {
  const active = { isOpen: true } as const;
  expect(
    causes([
      entryOf(1, 'fault', ['cp-1', 'cp-2'], active),
      entryOf(2, 'memberDown', ['cp-1'], { atMs: 3_600_000 }),
    ]),
  ).toEqual({ 1: null, 2: 1 });
});

test('an effect that is seen a moment before its cause still finds it', () => {
  expect(
    causes([
      entryOf(1, 'memberDown', ['cp-1'], { atMs: 10_000 }),
      entryOf(2, 'hostKilled', ['cp-1'], { atMs: 10_400 }),
    ]),
  ).toEqual({ 1: 2, 2: null });
});

test('a cause before the effect is preferred to one that was seen a moment later', () => {
  expect(
    causes([
      entryOf(1, 'action', ['cp-1'], { atMs: 9_000 }),
      entryOf(2, 'componentExited', ['cp-1'], { atMs: 10_000 }),
      entryOf(3, 'fault', ['cp-1'], { atMs: 10_600 }),
    ]),
  ).toEqual({ 1: null, 2: 1, 3: null });
});

test('entries are related as they are recorded, with what was read before', () => {
  const relater = new Relater();
  relater.prepare(entryOf(1, 'hostKilled', ['cp-1']));
  expect(relater.add(entryOf(2, 'memberDown', ['cp-1'])).cause).toBe(1);
});

test('a full log is related without comparing every entry with every other', () => {
  const many = Array.from({ length: TIMELINE_ENTRIES_MAX / 10 }, (_, id) =>
    entryOf(id, id % 2 === 0 ? 'componentExited' : 'memberDown', [`host-${id % 50}`], {
      isOpen: id % 3 === 0,
    }),
  );
  expect(relateAll(many)).toHaveLength(TIMELINE_ENTRIES_MAX / 10);
});
