import { expect, test } from 'vitest';
import { manualClock } from '../../base/manual-clock.ts';
import type { AutoCompaction } from '../config/config.ts';
import { startAutoCompaction } from './auto-compaction.ts';

const MINUTE_MS = 60_000;

/** A store that grows by one revision a minute. */
const watched = async (setting: AutoCompaction, minutes: number, isLeader = true): Promise<number[]> => {
  const clock = manualClock();
  const compacted: number[] = [];
  const revision = (): number => Math.floor(clock.monotonicMs() / MINUTE_MS);
  const running = startAutoCompaction(
    setting,
    {
      revision,
      isLeader: () => isLeader,
      compact: (at) => {
        compacted.push(at);
        return Promise.resolve();
      },
    },
    clock,
  );
  for (let minute = 0; minute < minutes; minute += 1) {
    clock.advance(MINUTE_MS);
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
  }
  running.dispose();
  return compacted;
};

test('periodic compaction keeps the history of its period', async () => {
  const compacted = await watched({ mode: 'periodic', retentionMs: 10 * MINUTE_MS }, 40);
  expect(compacted).toEqual([1, 11, 21]);
});

test('compaction by revision keeps so many revisions', async () => {
  expect(await watched({ mode: 'revision', retentionRevisions: 7 }, 20)).toEqual([3, 8, 13]);
});

test('a follower leaves compaction to its leader', async () => {
  expect(await watched({ mode: 'revision', retentionRevisions: 7 }, 20, false)).toEqual([]);
});

test('nothing is compacted when it is off', async () => {
  expect(await watched({ mode: 'off' }, 600)).toEqual([]);
});
