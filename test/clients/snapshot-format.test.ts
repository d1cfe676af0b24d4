import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import protobuf from 'protobufjs/minimal.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  decodeRevisionKey,
  memoryFile,
  openSnapshot,
  readSnapshot,
  restoreEntries,
  saveSnapshot,
  verifySnapshot,
  type Snapshot,
} from '../../core/etcd/snapshot/index.ts';
import { message, protobufBody } from '../../core/apiserver/protobuf/testing/protobuf-writer.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { contentsOf, openDecoder, openSnapshotSource } from '../../core/cluster/history/index.ts';
import { inEnglish } from '../../core/contract/index.ts';
import { BUCKETS } from '../../core/etcd/mvcc/backend/backend.ts';
import { Store } from '../../core/etcd/mvcc/store.ts';
import { loadBackend } from '../../core/etcd/mvcc/backend/load.ts';
import { openLmdbBackend } from '../../core/etcd/mvcc/backend/lmdb-engine.ts';
import { ETCD_BINARY, etcdctl, startRealEtcd, type RealEtcd } from './real-etcd.ts';

const KEYS = 50_000;
const TXN_OPS = 1_000;
const PAGE = 5_000;
const FLAGS = [`--max-txn-ops=${TXN_OPS}`];

interface GatewayKeyValue {
  readonly key: string;
  readonly value?: string;
  readonly create_revision: string;
  readonly mod_revision: string;
  readonly version: string;
  readonly lease?: string;
}
interface RangeAnswer {
  readonly header: { readonly revision: string };
  readonly kvs?: readonly GatewayKeyValue[];
  readonly more?: boolean;
}

const base64 = (data: string | Uint8Array): string => Buffer.from(data).toString('base64');
const ALL = { key: base64('\0'), range_end: base64('\0') };
const digest = (data: Uint8Array): string => createHash('sha256').update(data).digest('base64').slice(0, 12);
const keyName = (i: number): string => `/registry/pods/default/pod-${String(i).padStart(6, '0')}`;

/** One line a key: comparing lines shows which key differs and how. */
const line = (kv: { key: Uint8Array; value: Uint8Array; numbers: readonly (string | undefined)[] }): string =>
  [Buffer.from(kv.key).toString(), ...kv.numbers.map((n) => n ?? '0'), digest(kv.value)].join(' ');

const liveInEtcd = async (etcd: RealEtcd): Promise<{ revision: number; lines: string[] }> => {
  const lines: string[] = [];
  let from = ALL.key;
  let revision = 0;
  for (;;) {
    const answer = await etcd.call<RangeAnswer>('kv/range', { ...ALL, key: from, limit: PAGE });
    revision = Number(answer.header.revision);
    for (const kv of answer.kvs ?? []) {
      const numbers = [kv.create_revision, kv.mod_revision, kv.version, kv.lease];
      lines.push(
        line({ key: Buffer.from(kv.key, 'base64'), value: Buffer.from(kv.value ?? '', 'base64'), numbers }),
      );
    }
    const last = answer.kvs?.at(-1);
    if (answer.more !== true || last === undefined) return { revision, lines };
    from = base64(Buffer.concat([Buffer.from(last.key, 'base64'), Buffer.of(0)]));
  }
};

const decodeKeyValue = (bytes: Uint8Array) => {
  const reader = protobuf.Reader.create(bytes);
  const numbers = ['0', '0', '0', '0'];
  let key: Uint8Array = Buffer.alloc(0);
  let value: Uint8Array = Buffer.alloc(0);
  const slot = new Map([
    [2, 0],
    [3, 1],
    [4, 2],
    [6, 3],
  ]);
  while (reader.pos < reader.len) {
    const tag = reader.uint32() >>> 3;
    if (tag === 1) key = reader.bytes();
    else if (tag === 5) value = reader.bytes();
    else numbers[slot.get(tag)!] = String(reader.int64());
  }
  return { key, value, numbers };
};

const liveInSnapshot = async (snapshot: Snapshot): Promise<{ revision: number; lines: string[] }> => {
  const live = new Map<string, string>();
  let revision = 0;
  for await (const { key, value } of snapshot.entries('key')) {
    const { main, isTombstone } = decodeRevisionKey(key);
    revision = main;
    const kv = decodeKeyValue(value);
    const name = Buffer.from(kv.key).toString();
    if (isTombstone) live.delete(name);
    else live.set(name, line(kv));
  }
  return { revision, lines: [...live].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, text]) => text) };
};

const put = (key: string, value: string | Uint8Array, lease?: string) => ({
  request_put: { key: base64(key), value: base64(value), ...(lease === undefined ? {} : { lease }) },
});

const inTxns = async (etcd: RealEtcd, count: number, operation: (i: number) => object): Promise<void> => {
  for (let start = 0; start < count; start += TXN_OPS) {
    const length = Math.min(TXN_OPS, count - start);
    await etcd.call('kv/txn', { success: Array.from({ length }, (_, i) => operation(start + i)) });
  }
};

/** Puts, overwrites, deletions, leases, large values, users and roles, a compaction in the middle of it all. */
const fill = async (etcd: RealEtcd): Promise<void> => {
  const { ID: lease } = await etcd.call<{ ID: string }>('lease/grant', { TTL: 3600 });
  await inTxns(etcd, KEYS, (i) =>
    put(keyName(i), `first value of ${i} `.repeat(1 + (i % 9)), i % 100 === 0 ? lease : undefined),
  );
  const { header } = await etcd.call<RangeAnswer>('kv/range', { key: base64('none') });
  await inTxns(etcd, KEYS / 5, (i) => put(keyName(i * 5), `second value of ${i}`));
  for (let i = 0; i < 12; i += 1)
    await etcd.call('kv/put', put(`/large/${i}`, Buffer.alloc(20_000 * (i + 1), i)).request_put);
  await etcd.call('kv/put', put('/huge', Buffer.alloc(1_000_000, 'x')).request_put);
  await etcd.call('kv/deleterange', { key: base64(keyName(1_000)), range_end: base64(keyName(3_000)) });
  await etcd.call('kv/compaction', { revision: String(Number(header.revision) + 4), physical: true });
  await etcd.call('kv/deleterange', { key: base64(keyName(7_000)), range_end: base64(keyName(7_500)) });
  await etcd.call('kv/put', put(keyName(7_100), 'came back').request_put);
  await etcd.call('auth/role/add', { name: 'viewer' });
  await etcd.call('auth/user/add', { name: 'alice', password: 'secret' });
};

const statusByEtcdctl = async (path: string): Promise<object> =>
  JSON.parse(await etcdctl('snapshot', 'status', path, '-w', 'json')) as object;

/** Ours in the words of etcdctl 3.4, whose totalKey counts the entries of all buckets. */
const statusByUs = async (path: string): Promise<object> => {
  const { hash, revision, totalEntries, totalSize } = await verifySnapshot(path);
  return { hash, revision, totalKey: totalEntries, totalSize };
};

describe.skipIf(!existsSync(ETCD_BINARY))('snapshot files and a real etcd', () => {
  let directory: string;
  let original: string;
  let rewritten: string;
  let truth: { revision: number; lines: string[] };
  const running: RealEtcd[] = [];

  const start = async (dataDirectory: string): Promise<RealEtcd> => {
    const etcd = await startRealEtcd(dataDirectory, FLAGS);
    running.push(etcd);
    return etcd;
  };

  const restoreAndStart = async (path: string, name: string): Promise<RealEtcd> => {
    const dataDirectory = join(directory, name);
    await etcdctl('snapshot', 'restore', path, '--data-dir', dataDirectory);
    return start(dataDirectory);
  };

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'snapshot-format-'));
    original = join(directory, 'original.db');
    rewritten = join(directory, 'rewritten.db');
    const etcd = await start(join(directory, 'source'));
    await fill(etcd);
    truth = await liveInEtcd(etcd);
    await etcdctl('--endpoints', etcd.endpoint, 'snapshot', 'save', original);
    await etcd.stop();
    const snapshot = await readSnapshot(original);
    await saveSnapshot(rewritten, () => snapshot.all());
    await snapshot.close();
  });

  afterAll(async () => {
    for (const etcd of running) await etcd.stop();
    await rm(directory, { recursive: true, force: true });
  });

  test('a snapshot of a real etcd is read in full, key by key as etcd serves them', async () => {
    const snapshot = await readSnapshot(original);
    const found = await liveInSnapshot(snapshot);
    const alice = await snapshot.get('authUsers', Buffer.from('alice'));
    await snapshot.close();
    expect(found.lines.length).toBe(KEYS - 2_000 - 500 + 1 + 13);
    expect(found).toEqual(truth);
    expect(alice?.includes('alice')).toBe(true);
  });

  test('the status of a real snapshot is the one etcdctl prints', async () => {
    expect(await statusByUs(original)).toEqual(await statusByEtcdctl(original));
    expect((await verifySnapshot(original)).totalKey).toBe(truth.lines.length);
  });

  test('etcdctl accepts a file of ours, with the same hash as the original', async () => {
    const ours = await statusByEtcdctl(rewritten);
    expect(ours).toEqual(await statusByUs(rewritten));
    expect(ours).toMatchObject({ hash: (await verifySnapshot(original)).hash, revision: truth.revision });
  });

  test('a real etcd restored from our file serves the same keys at the same revisions, and can change all of them', async () => {
    const etcd = await restoreAndStart(rewritten, 'restored');
    expect(await liveInEtcd(etcd)).toEqual(truth);
    const { leases } = await etcd.call<{ leases: readonly unknown[] }>('lease/leases', {});
    expect(leases.length).toBe(1);

    // Deleting and compacting makes bbolt merge and free the pages that we laid out.
    await etcd.call('kv/deleterange', { key: base64(keyName(10_000)), range_end: base64(keyName(40_000)) });
    await inTxns(etcd, 2_000, (i) => put(keyName(i), 'third value'));
    const { revision } = await liveInEtcd(etcd);
    await etcd.call('kv/compaction', { revision: String(revision), physical: true });
    await etcdctl('--endpoints', etcd.endpoint, 'defrag');
    const after = await liveInEtcd(etcd);
    const again = join(directory, 'again.db');
    await etcdctl('--endpoints', etcd.endpoint, 'snapshot', 'save', again);
    await etcd.stop();
    const snapshot = await readSnapshot(again);
    expect(await liveInSnapshot(snapshot)).toEqual(after);
    await snapshot.close();
  });

  test('a database that was compacted but not defragmented passes our check, freelist and all', async () => {
    const bare = join(directory, 'source', 'member', 'snap', 'db');
    const { revision } = await verifySnapshot(bare, { skipHashCheck: true });
    expect(revision).toBe(truth.revision);
    await expect(verifySnapshot(bare)).rejects.toMatchObject({ reason: 'HashMissing' });
  });

  test('entries restored with a bump come up far ahead, with old revisions compacted', async () => {
    const snapshot = await readSnapshot(original);
    const members = [{ id: 0x8e9e05c52164694dn, name: 'default', peerURLs: ['http://localhost:2380'] }];
    const bumped = join(directory, 'bumped.db');
    await saveSnapshot(bumped, () => restoreEntries(snapshot, { members }));
    await snapshot.close();
    expect(await statusByUs(bumped)).toEqual(await statusByEtcdctl(bumped));

    const etcd = await restoreAndStart(bumped, 'bumped');
    const { revision, lines } = await liveInEtcd(etcd);
    expect({ revision, lines }).toEqual({ revision: truth.revision + 1_000_000_000, lines: truth.lines });
    const old = etcd.call('kv/range', { key: base64('/huge'), revision: String(truth.revision) });
    await expect(old).rejects.toThrow(/required revision has been compacted/);
    const next = await etcd.call<RangeAnswer>('kv/put', put('/after', 'restore').request_put);
    expect(Number(next.header.revision)).toBe(revision + 1);
    await etcd.stop();
  });

  test('our own store opens the snapshot of a real etcd, and a real etcd opens what our store saves', async () => {
    const backend = await openLmdbBackend(join(directory, 'ours'), {
      clock: systemClock,
      onCommitFailed: (error) => {
        throw error;
      },
    });
    const snapshot = await readSnapshot(original);
    const members = [{ id: 1, name: 'default', peerURLs: ['http://localhost:2380'] }];
    await loadBackend(backend, restoreEntries(snapshot, { members }), { consistentIndex: 1, term: 1 });
    await snapshot.close();
    const store = await Store.open({ backend, clock: systemClock });
    const { kvs, revision } = store.range({ key: Buffer.of(0), rangeEnd: Buffer.of(0) });
    const lines = kvs.map(({ key, value, createRevision, modRevision, version, lease }) =>
      line({ key, value, numbers: [createRevision, modRevision, version, lease].map(String) }),
    );
    expect({ revision, lines }).toEqual({ revision: truth.revision + 1_000_000_000, lines: truth.lines });

    store.put({ key: Buffer.from('/ours'), value: Buffer.from('written by our store') });
    const view = await backend.snapshot();
    const saved = join(directory, 'ours.db');
    function* rows() {
      for (const bucket of BUCKETS) for (const row of view.entries(bucket)) yield { bucket, ...row };
    }
    await saveSnapshot(saved, rows);
    view.dispose();
    store.close();
    await backend.close();
    expect(await statusByUs(saved)).toEqual(await statusByEtcdctl(saved));

    const etcd = await restoreAndStart(saved, 'from-ours');
    const after = await liveInEtcd(etcd);
    await etcd.stop();
    expect(after.revision).toBe(revision + 1);
    expect(after.lines.filter((text) => !text.startsWith('/ours '))).toEqual(truth.lines);
  });

  test('objects that a kube-apiserver wrote to a real etcd as protobuf are browsed in its snapshot', async () => {
    const etcd = await start(join(directory, 'kubernetes'));
    const key = '/registry/configmaps/harbour/tides';
    const object = message(
      [1, message([1, 'tides'], [3, 'harbour'], [5, 'uid-1'])],
      [2, message([1, 'high'], [2, '06:12'])],
    );
    const put = (at: string, value: Uint8Array): Promise<object> =>
      etcd.call('kv/put', {
        key: Buffer.from(at).toString('base64'),
        value: Buffer.from(value).toString('base64'),
      });
    await put(key, protobufBody('v1', 'ConfigMap', object));
    await put('/registry/configmaps/harbour/broken', Buffer.from('k8s\0not a message'));
    const file = join(directory, 'kubernetes.db');
    await etcdctl('--endpoints', etcd.endpoint, 'snapshot', 'save', file);
    await etcd.stop();
    const source = await openSnapshotSource(file);
    const decoder = await openDecoder([], systemClock);
    try {
      expect((await contentsOf(source)).rows).toMatchObject([{ group: '', plural: 'configmaps', count: 2 }]);
      const read = async (at: string) => decoder.decode((await source.read(at))!);
      expect((await read(key)).object).toMatchObject({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'tides', namespace: 'harbour', uid: 'uid-1' },
        data: { high: '06:12' },
      });
      const broken = await read('/registry/configmaps/harbour/broken');
      expect([broken.object, inEnglish(broken.problem!)]).toEqual([
        undefined,
        expect.stringContaining('/registry/configmaps/harbour/broken'),
      ]);
    } finally {
      decoder.dispose();
      await source.close();
    }
  });

  test('a flipped byte is caught by us and by etcdctl', async () => {
    const content = await readFile(rewritten);
    content[content.length >> 1] = content[content.length >> 1]! ^ 1;
    const damaged = join(directory, 'damaged.db');
    await writeFile(damaged, content);
    await expect(verifySnapshot(damaged)).rejects.toMatchObject({ reason: 'HashMismatch' });
    await expect(
      etcdctl('snapshot', 'restore', damaged, '--data-dir', join(directory, 'no')),
    ).rejects.toThrow(/sha256/);
    await expect((await openSnapshot(memoryFile(content))).verifyHash()).rejects.toMatchObject({
      reason: 'HashMismatch',
    });
  });
});
