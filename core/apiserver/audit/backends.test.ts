import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { silentLog } from '../../base/log.ts';
import { manualClock } from '../../base/manual-clock.ts';
import { batched } from './batch.ts';
import { EncodedEvent, truncated, type AuditBackend, type AuditEvent } from './event.ts';
import { createLogFile } from './log-file.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});
const folderOf = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'));
  folders.push(folder);
  return folder;
};

const event = (auditID: string, requestObject?: unknown): EncodedEvent =>
  new EncodedEvent(JSON.stringify({ kind: 'Event', auditID, requestObject }));
const DAY_MS = 86_400_000;
const large = (id: string): EncodedEvent => event(id, 'x'.repeat(600 * 1024));

test('a log is rotated by size, and rotated files are compressed and kept by number and age', async () => {
  const folder = folderOf();
  const clock = manualClock();
  const log = createLogFile({
    path: join(folder, 'cp-1.log'),
    ageDaysMax: 10,
    backupsMax: 2,
    sizeMibMax: 1,
    isCompressed: true,
    clock,
    log: silentLog,
  });
  for (const id of ['a', 'b', 'c', 'd']) {
    await log.process([large(id)]);
    clock.advance(1000);
  }
  await log.close();
  const rotated = readdirSync(folder).filter((name) => name.endsWith('.gz'));
  const idOf = (text: string): unknown => (JSON.parse(text) as AuditEvent).auditID;
  expect(rotated.sort().map((name) => idOf(gunzipSync(readFileSync(join(folder, name))).toString()))).toEqual(
    ['b', 'c'],
  );
  expect(idOf(readFileSync(join(folder, 'cp-1.log'), 'utf8'))).toBe('d');
});

test('rotated files that are too old are deleted', async () => {
  const folder = folderOf();
  const clock = manualClock();
  const options = {
    path: join(folder, 'a.log'),
    ageDaysMax: 10,
    backupsMax: 0,
    sizeMibMax: 1,
    isCompressed: false,
  };
  const log = createLogFile({ ...options, clock, log: silentLog });
  await log.process([large('a')]);
  await log.process([large('b')]);
  clock.advance(11 * DAY_MS);
  await log.process([large('c')]);
  await log.close();
  expect(readdirSync(folder).length).toBe(2);
});

test('a disk that takes nothing fails the events, and a later one is written', async () => {
  const folder = folderOf();
  writeFileSync(join(folder, 'file'), '');
  let failed = 0;
  const options = {
    path: join(folder, 'file', 'a.log'),
    ageDaysMax: 0,
    backupsMax: 0,
    sizeMibMax: 1,
    isCompressed: false,
    clock: manualClock(),
    log: silentLog,
    onFailed: (count: number) => (failed += count),
  };
  const log = createLogFile(options);
  const first = await log.process([event('a'), event('b')]);
  rmSync(join(folder, 'file'));
  const second = await log.process([event('c')]);
  await log.close();
  expect([first, failed, second]).toEqual([false, 2, true]);
});

const collecting = (): { batches: string[][]; backend: AuditBackend } => {
  const batches: string[][] = [];
  return {
    batches,
    backend: {
      process(events) {
        batches.push(events.map(({ event: { auditID } }) => auditID));
        return true;
      },
      close: () => Promise.resolve(),
    },
  };
};
const LIMITS = { bufferSize: 4, batchSizeMax: 2, waitMs: 1000, throttleQps: 0, throttleBurst: 0 };

test('a batch is sent when it is full or has waited, and what the buffer does not hold is dropped', async () => {
  const { batches, backend } = collecting();
  const clock = manualClock();
  let dropped = 0;
  const batch = batched(backend, { ...LIMITS, clock, onDropped: (count) => (dropped += count) });
  void batch.process([event('a')]);
  expect(batches).toEqual([]);
  clock.advance(1000);
  await Promise.resolve();
  expect(batches).toEqual([['a']]);
  void batch.process(['b', 'c', 'd', 'e', 'f'].map((id) => event(id)));
  await batch.close();
  expect([batches.slice(1), dropped]).toEqual([
    [
      ['b', 'c'],
      ['d', 'e'],
    ],
    1,
  ]);
});

test('batches are throttled', async () => {
  const { batches, backend } = collecting();
  const clock = manualClock();
  const batch = batched(backend, { ...LIMITS, batchSizeMax: 1, throttleQps: 1, throttleBurst: 1, clock });
  void batch.process([event('a'), event('b')]);
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect(batches).toEqual([['a']]);
  clock.advance(1001);
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  expect(batches).toEqual([['a'], ['b']]);
});

test('a large event loses its objects, and is dropped where that does not help', () => {
  const small = truncated(event('a', 'x'.repeat(1000)), 500);
  expect(small?.event).toMatchObject({ auditID: 'a', annotations: { 'audit.k8s.io/truncated': 'true' } });
  expect(truncated(event('b'.repeat(1000)), 500)).toBeUndefined();
});
