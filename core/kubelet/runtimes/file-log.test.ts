import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../base/node/clock.ts';
import type { LogReading } from './container-log.ts';
import { LogRecords, parseLogRecord } from './cri-log-line.ts';
import { FileLog } from './file-log.ts';

let folder = '';
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'file-log-'))));
afterEach(() => rm(folder, { recursive: true }));

const record = (second: number, text: string, tag = 'F'): string =>
  `2026-01-02T03:04:${String(second).padStart(2, '0')}.000000001Z stdout ${tag} ${text}\n`;

const texts = async (log: FileLog, reading: Partial<LogReading> = {}): Promise<string[]> => {
  const all: string[] = [];
  for await (const lines of log.read({ follow: false, signal: new AbortController().signal, ...reading }))
    all.push(...lines.map(({ text, isPartial }) => (isPartial ? `${text}…` : text)));
  return all;
};

test('a record has a time, a stream, a tag and any text', () => {
  expect(parseLogRecord('2016-10-06T00:17:09.669794202Z stderr P:x  a b')).toEqual({
    timeMs: Date.parse('2016-10-06T00:17:09.669Z'),
    time: '2016-10-06T00:17:09.669794202Z',
    stream: 'stderr',
    text: ' a b',
    isPartial: true,
  });
  for (const broken of ['', 'x', '2016 stdout', '2016-10-06T00:17:09Z stdin F x'])
    expect(parseLogRecord(broken)).toBeUndefined();
});

test('records survive any cut, and a file without line ends takes no memory', () => {
  const bytes = Buffer.from(record(1, 'grün') + record(2, '') + record(3, 'z', 'P'));
  const whole = new LogRecords().push(bytes);
  expect(whole.map(({ text }) => text)).toEqual(['grün', '', 'z']);
  for (let cut = 0; cut < bytes.length; cut += 1) {
    const records = new LogRecords();
    expect([...records.push(bytes.subarray(0, cut)), ...records.push(bytes.subarray(cut))]).toEqual(whole);
  }
  const endless = new LogRecords();
  for (let i = 0; i < 20; i += 1) expect(endless.push(Buffer.alloc(64 * 1024, 'x'))).toEqual([]);
});

test('the tail of a file is found from its end', async () => {
  const path = join(folder, '0.log');
  const count = 5_000;
  await writeFile(
    path,
    Array.from({ length: count }, (_, index) => record(index % 60, `line ${index}`)).join(''),
  );
  const log = new FileLog(path, systemClock);
  expect((await texts(log)).length).toBe(count);
  expect(await texts(log, { tailLines: 2 })).toEqual(['line 4998', 'line 4999']);
  expect((await texts(log, { tailLines: 3_000 }))[0]).toBe('line 2000');
  expect((await texts(log, { tailLines: count + 1 })).length).toBe(count);
  expect(await texts(log, { tailLines: 0 })).toEqual([]);
  expect(await texts(log, { tailLines: 20, sinceMs: Date.parse('2026-01-02T03:04:19Z') })).toEqual([
    'line 4999',
  ]);
});

test('a follower waits for the file, follows a rotation and ends with the container', async () => {
  const path = join(folder, '0.log');
  const log = new FileLog(path, systemClock);
  const reading = log.read({ follow: true, signal: new AbortController().signal })[Symbol.asyncIterator]();
  const next = async (): Promise<string[] | undefined> => {
    const { done, value } = await reading.next();
    return done ? undefined : value.map(({ text }) => text);
  };
  const first = next();
  await writeFile(path, record(1, 'a') + record(2, 'b', 'P'));
  expect(await first).toEqual(['a', 'b']);
  await appendFile(path, record(3, 'c'));
  await rename(path, `${path}.20260102-030404`);
  await writeFile(path, record(4, 'd'));
  expect(await next()).toEqual(['c']);
  expect(await next()).toEqual(['d']);
  await appendFile(path, record(5, 'last'));
  log.close();
  expect(await next()).toEqual(['last']);
  expect(await next()).toBeUndefined();
});

test('a follower that goes away closes its file', async () => {
  const log = new FileLog(join(folder, 'none.log'), systemClock);
  const gone = new AbortController();
  const reading = texts(log, { follow: true, signal: gone.signal });
  gone.abort();
  expect(await reading).toEqual([]);
});
