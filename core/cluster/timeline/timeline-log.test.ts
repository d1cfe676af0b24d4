import { appendFile, mkdtemp, readdir, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { TimelineFollower } from './follow-timeline.ts';
import { readTimeline } from './read-timeline.ts';
import { entryOf } from './timeline-fixture.ts';
import { timelineFolder } from './timeline-files.ts';
import { TimelineLog, type LogBounds, type NewEntry } from './timeline-log.ts';

let data = '';
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'pilothouse-timeline-'));
});
afterEach(() => rm(data, { recursive: true, force: true }));

const draft = (atMs: number, more: Partial<NewEntry> = {}): NewEntry => {
  const { id: _id, ...entry } = entryOf(0, 'hostKilled', ['cp-1'], { atMs, ...more });
  return entry;
};
const open = async (bounds?: LogBounds): Promise<TimelineLog> => {
  const log = new TimelineLog({ folder: timelineFolder(data), log: silentLog, ...(bounds && { bounds }) });
  await log.start();
  return log;
};
const lastFile = async (): Promise<string> => {
  const names = await readdir(timelineFolder(data));
  return join(timelineFolder(data), names.sort((a, b) => Number.parseInt(a) - Number.parseInt(b)).at(-1)!);
};

test('a log continues where it ended, and spans get their ends', async () => {
  const first = await open();
  const span = first.append(draft(1, { isOpen: true }));
  first.end(span, { atMs: 5, severity: 'ok' });
  await first.close();
  const second = await open();
  second.append(draft(9));
  await second.close();
  const { entries, damagedLines } = await readTimeline(data, true);
  expect(damagedLines).toBe(0);
  expect(entries.map(({ id, atMs, endMs, isOpen, severity }) => [id, atMs, endMs, isOpen, severity])).toEqual(
    [
      [0, 1, 5, false, 'ok'],
      [1, 9, null, false, 'info'],
    ],
  );
});

test('a line that was cut short costs itself alone', async () => {
  const first = await open();
  first.append(draft(1));
  first.append(draft(2));
  await first.close();
  const file = await lastFile();
  await truncate(file, (await stat(file)).size - 20);
  const second = await open();
  second.append(draft(3));
  await second.close();
  const { entries, damagedLines } = await readTimeline(data, true);
  expect([entries.map(({ atMs }) => atMs), damagedLines]).toEqual([[1, 3], 1]);
});

test('garbage in the file is counted, not thrown', async () => {
  const first = await open();
  first.append(draft(1));
  await first.close();
  await appendFile(await lastFile(), '{"id":7}\nnull\n[]\n\u0000\u0000\n');
  const { entries, damagedLines } = await readTimeline(data, true);
  expect([entries.length, damagedLines]).toEqual([1, 4]);
});

test('open intervals of an interrupted recording end with its last entry', async () => {
  const first = await open();
  first.append(draft(1, { isOpen: true }));
  first.append(draft(4));
  await first.close();
  const second = await open();
  second.append(draft(100, { kind: 'recordingBegan' }));
  await second.close();
  const { entries } = await readTimeline(data, true);
  expect(entries[0]).toMatchObject({ isOpen: false, endMs: 4 });
});

test('a cluster that does not run any more has nothing that lasts', async () => {
  const log = await open();
  log.append(draft(1, { isOpen: true }));
  log.append(draft(4));
  await log.close();
  expect((await readTimeline(data, true)).entries[0]).toMatchObject({ isOpen: true });
  expect((await readTimeline(data, false)).entries[0]).toMatchObject({ isOpen: false, endMs: 4 });
});

test('files are bounded, and the oldest entries go first', async () => {
  const log = await open({ fileBytesMax: 1_000, filesMax: 3 });
  for (let atMs = 1; atMs <= 100; atMs += 1) {
    log.append(draft(atMs));
    await log.read();
  }
  await log.close();
  const { entries } = await readTimeline(data, true);
  const names = await readdir(timelineFolder(data));
  expect(names).toHaveLength(3);
  expect(entries.at(-1)?.atMs).toBe(100);
  expect(entries.length).toBeLessThan(20);
  // Ids continue after a restart, whatever was deleted.
  const again = await open();
  expect(again.append(draft(101))).toBe(100);
  await again.close();
});

test('the folder of a deleted cluster does not come back', async () => {
  await rm(data, { recursive: true });
  const log = await open();
  log.append(draft(1));
  await log.close();
  await expect(stat(data)).rejects.toThrow('ENOENT');
});

test('a follower reads each line once, and reports a span again when it ends', async () => {
  const log = await open({ fileBytesMax: 300, filesMax: 10 });
  const follower = new TimelineFollower(data);
  const look = async (isRunning = true) => {
    await log.read();
    return (await follower.look(isRunning)).entries.map(({ id, isOpen, endMs }) => [id, isOpen, endMs]);
  };
  const span = log.append(draft(1, { isOpen: true }));
  for (const atMs of [2, 3, 4]) log.append(draft(atMs));
  expect((await look()).map(([id]) => id)).toEqual([0, 1, 2, 3]);
  expect(await look()).toEqual([]);
  // Its end is in another file than its beginning.
  log.append(draft(5));
  log.end(span, { atMs: 6 });
  expect(await look()).toEqual([
    [0, false, 6],
    [4, false, null],
  ]);
  expect((await readdir(timelineFolder(data))).length).toBeGreaterThan(1);
  log.append(draft(7, { isOpen: true }));
  expect(await look()).toEqual([[5, true, null]]);
  expect(await look(false)).toEqual([[5, false, 7]]);
  await log.close();
});

test('a follower keeps half a line for the next look', async () => {
  const log = await open();
  log.append(draft(1));
  await log.close();
  const follower = new TimelineFollower(data);
  const file = await lastFile();
  const whole = JSON.stringify(entryOf(1, 'hostKilled', ['cp-1'], { atMs: 2 }));
  await appendFile(file, whole.slice(0, 20));
  expect((await follower.look(true)).entries).toHaveLength(1);
  await appendFile(file, `${whole.slice(20)}\n`);
  expect(await follower.look(true)).toMatchObject({ entries: [{ id: 1 }], damagedLines: 0 });
});
