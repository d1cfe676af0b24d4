import { expect, test } from 'vitest';
import { collect, entry } from './bolt/testing.ts';
import type { BoltEntry } from './bolt/writer.ts';
import {
  encodeRevisionKey,
  memoryFile,
  openSnapshot,
  restoreEntries,
  streamSnapshot,
  type RestoreOptions,
  type Snapshot,
} from './index.ts';

const BILLION = 1_000_000_000;
const members = [
  { id: 0xbn, name: 'b', peerURLs: ['http://b:2380'] },
  { id: 0xan, name: 'a', peerURLs: ['http://a:2380'] },
];
const revisionHex = (main: number): string => encodeRevisionKey({ main, sub: 0 }).toString('hex');
const index = (value: number): string => value.toString(16).padStart(16, '0');

const source: BoltEntry[] = [
  entry('alarm', 'alarm of an old member'),
  entry('authUsers', 'alice', 'hash'),
  entry('cluster', 'clusterVersion', '3.6.0'),
  { bucket: 'key', key: encodeRevisionKey({ main: 7, sub: 0 }), value: Buffer.from([0x0a, 1, 0x61]) },
  { bucket: 'key', key: encodeRevisionKey({ main: 7, sub: 1 }), value: Buffer.from([0x0a, 1, 0x62]) },
  entry('lease', 'lease id', 'lease'),
  entry('members', 'dead', '{}'),
  entry('members_removed', 'beef', 'removed'),
  entry('meta', 'confState', '{"voters":[57005]}'),
  entry('meta', 'consistent_index', 'old bytes'),
  { bucket: 'meta', key: Buffer.from('finishedCompactRev'), value: encodeRevisionKey({ main: 6, sub: 0 }) },
  entry('meta', 'storageVersion', '3.6.0'),
];

const snapshotOf = async (
  entries: readonly BoltEntry[],
  damage?: (file: Buffer) => Buffer,
): Promise<Snapshot> => {
  const { chunks } = await streamSnapshot(() => entries);
  const file = Buffer.concat(await collect(chunks));
  return openSnapshot(memoryFile(damage === undefined ? file : damage(file)));
};

const restored = async (snapshot: Snapshot, options: Partial<RestoreOptions> = {}): Promise<string[]> => {
  const entries = await collect(restoreEntries(snapshot, { members, ...options }));
  return entries.map(({ bucket, key, value }) => {
    const isBinaryKey = bucket === 'key';
    const isBinaryValue = bucket === 'key' || /index|term|Rev/.test(key.toString());
    return [
      bucket,
      key.toString(isBinaryKey ? 'hex' : 'utf8'),
      value.toString(isBinaryValue ? 'hex' : 'utf8'),
    ].join(' ');
  });
};

test('data is kept, membership and alarms are replaced, the revision is moved on and compacted', async () => {
  expect(await restored(await snapshotOf(source))).toEqual([
    `key ${revisionHex(7)} 0a0161`,
    `key ${encodeRevisionKey({ main: 7, sub: 1 }).toString('hex')} 0a0162`,
    `key ${revisionHex(7 + BILLION)} `,
    'authUsers alice hash',
    'cluster clusterVersion 3.6.0',
    'lease lease id lease',
    'members a {"id":10,"peerURLs":["http://a:2380"],"name":"a"}',
    'members b {"id":11,"peerURLs":["http://b:2380"],"name":"b"}',
    'meta confState {"voters":[10,11],"auto_leave":false}',
    `meta consistent_index ${index(2)}`,
    `meta finishedCompactRev ${revisionHex(6)}`,
    `meta scheduledCompactRev ${revisionHex(7 + BILLION)}`,
    'meta storageVersion 3.6.0',
    `meta term ${index(1)}`,
  ]);
});

test('without a bump revisions stay and no compaction is scheduled', async () => {
  const lines = await restored(await snapshotOf(source), { bumpRevision: 0 });
  expect(lines.filter((line) => line.startsWith('key') || line.includes('scheduled'))).toEqual([
    `key ${revisionHex(7)} 0a0161`,
    `key ${encodeRevisionKey({ main: 7, sub: 1 }).toString('hex')} 0a0162`,
  ]);
});

test('the index and term of the new log are taken over', async () => {
  const lines = await restored(await snapshotOf(source), { consistentIndex: 300, term: 4 });
  expect(lines.filter((line) => /index|term/.test(line))).toEqual([
    `meta consistent_index ${index(300)}`,
    `meta term ${index(4)}`,
  ]);
});

test('the bump starts at the compacted revision where compaction removed all later ones', async () => {
  const compacted = [
    { bucket: 'key', key: encodeRevisionKey({ main: 3, sub: 0 }), value: Buffer.from([0x0a, 1, 0x61]) },
    {
      bucket: 'meta',
      key: Buffer.from('finishedCompactRev'),
      value: encodeRevisionKey({ main: 90, sub: 0 }),
    },
  ];
  const lines = await restored(await snapshotOf(compacted), { bumpRevision: 1000 });
  expect(lines).toContain(`key ${revisionHex(1090)} `);
});

test('the result is a valid snapshot', async () => {
  const snapshot = await snapshotOf(source);
  const { chunks } = await streamSnapshot(() => restoreEntries(snapshot, { members }));
  const again = await openSnapshot(memoryFile(Buffer.concat(await collect(chunks))));
  expect((await restored(again, { bumpRevision: 0 })).length).toBe(14);
});

test('nothing comes out of a damaged snapshot, unless the check is skipped', async () => {
  const flipHash = (file: Buffer): Buffer => {
    file[file.length - 1]! ^= 1;
    return file;
  };
  const damaged = await snapshotOf(source, flipHash);
  const entries = restoreEntries(damaged, { members });
  await expect(entries.next()).rejects.toMatchObject({ reason: 'HashMismatch' });
  expect((await restored(damaged, { skipHashCheck: true })).length).toBe(14);

  const bare = await snapshotOf(source, (file) => file.subarray(0, file.length - 32));
  await expect(restored(bare)).rejects.toMatchObject({ reason: 'HashMissing' });
  expect((await restored(bare, { skipHashCheck: true })).length).toBe(14);
});

test.each<[string, Partial<RestoreOptions>]>([
  ['a bump that is not compacted', { markCompacted: false }],
  ['a compaction without a bump', { bumpRevision: 0, markCompacted: true }],
  ['a negative bump', { bumpRevision: -1 }],
  ['a bump past all numbers', { bumpRevision: Number.MAX_SAFE_INTEGER }],
  ['no members', { members: [] }],
  ['one id twice', { members: [members[0]!, members[0]!] }],
])('%s is refused', async (_what, options) => {
  await expect(restored(await snapshotOf(source), options)).rejects.toMatchObject({
    reason: 'InvalidOptions',
  });
});
