import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { BackupRunner } from './backup-runner.ts';

let data: string;
let folder: string;

beforeEach(() => {
  data = mkdtempSync(join(tmpdir(), 'pilothouse-backups-'));
  folder = join(data, 'backups');
  mkdirSync(folder);
});
afterEach(() => rmSync(data, { recursive: true, force: true }));

const runnerOf = (save: () => Promise<unknown>) => {
  const clock = manualClock();
  const runner = new BackupRunner({ dataDirectory: data, clock, log: silentLog, save });
  return { clock, runner };
};

/** A file of the schedule that was made at this second. */
const made = (name: string, atSeconds: number): void => {
  writeFileSync(join(folder, name), '');
  utimesSync(join(folder, name), atSeconds, atSeconds);
};

test('the oldest snapshots of the schedule go, and no one else’s', async () => {
  let count = 0;
  const { clock, runner } = runnerOf(() => {
    made(`scheduled-new-${(count += 1)}.db`, clock.nowMs() / 1000 + count);
    return Promise.resolve();
  });
  made('etcd-by-hand.db', 1);
  made('scheduled-1.db', clock.nowMs() / 1000 - 7200);
  made('scheduled-2.db', clock.nowMs() / 1000 - 3600);
  await runner.setSchedule({ enabled: true, everyMinutes: 60, keep: 2 });
  clock.advance(60_000);
  await expect.poll(() => runner.nextAtMs).toBe(clock.nowMs() + 3_600_000);
  expect(readdirSync(folder).sort()).toEqual([
    'etcd-by-hand.db',
    'schedule.json',
    'scheduled-2.db',
    'scheduled-new-1.db',
  ]);
  runner.dispose();
});

test('a schedule survives a restart, and one that is off makes nothing', async () => {
  const first = runnerOf(() => Promise.reject(new Error('must not be asked')));
  await first.runner.setSchedule({ enabled: false, everyMinutes: 5, keep: 3 });
  first.clock.advance(3_600_000);
  const second = runnerOf(() => Promise.resolve());
  await second.runner.start();
  expect([second.runner.schedule, second.runner.nextAtMs]).toEqual([
    { enabled: false, everyMinutes: 5, keep: 3 },
    undefined,
  ]);
});

test('a snapshot that failed is tried again in a minute', async () => {
  let count = 0;
  const { clock, runner } = runnerOf(() => {
    count += 1;
    return Promise.reject(new Error('no quorum'));
  });
  await runner.setSchedule({ enabled: true, everyMinutes: 600, keep: 2 });
  clock.advance(0);
  await expect.poll(() => runner.nextAtMs).toBe(clock.nowMs() + 60_000);
  clock.advance(60_000);
  await expect.poll(() => count).toBe(2);
  runner.dispose();
});
