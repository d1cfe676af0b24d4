import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { seededRandom } from '../../core/base/random.ts';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster } from '../support/etcd-cluster.ts';
import { Counter, COUNTER_KEY, Follower, Writer, type Dial } from '../support/etcd-load.ts';
import { RPC } from '../support/etcd-rpc.ts';
import type { RpcClient } from '../support/grpc-client.ts';
import { until } from '../support/until.ts';

const OCTET = 77;
const MEMBERS = 3;
const ROUNDS = 20;
const WRITERS = 4;
const COUNTERS = 2;
const DOWN_MS_MAX = 600;
const STOPPED_MS_MAX = 1500;
const TEST_LIMIT_MS = 400_000;
const PAGE = 5_000;

const seed = Number(process.env['PILOTHOUSE_SEED'] ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
const directory = mkdtempSync(join(tmpdir(), 'pilothouse-kill-'));
let cluster: EtcdCluster;
const workers: { stop(): Promise<void> }[] = [];

beforeAll(async () => {
  cluster = new EtcdCluster({
    flavour: 'pilothouse',
    size: MEMBERS,
    octet: OCTET,
    directory: join(directory, 'members'),
    certificates: makeCertificates(join(directory, 'pki'), OCTET),
    // Small, so that members that come back need states as well as logs.
    extraFlags: ['--snapshot-count=300', '--snapshot-catchup-entries=20'],
  });
  cluster.start();
  await cluster.healthy();
});

afterAll(async () => {
  await cluster.stop();
  await Promise.all(workers.map((worker) => worker.stop()));
  rmSync(directory, { recursive: true, force: true });
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const strike = async (): Promise<string> => {
  const index = random.below(MEMBERS);
  const { process: child } = cluster.members[index]!;
  if (random.below(3) === 0) {
    const ms = random.below(STOPPED_MS_MAX);
    child.kill('SIGSTOP');
    await pause(ms);
    child.kill('SIGCONT');
    return `m${index + 1} stopped for ${ms} ms`;
  }
  const ms = random.below(DOWN_MS_MAX);
  await cluster.members[index]!.kill('SIGKILL');
  await pause(ms);
  cluster.startMember(index);
  return `m${index + 1} killed for ${ms} ms`;
};

/** Everything that is there, page by page at one revision. */
const readAll = async (client: RpcClient): Promise<{ revision: number; values: Map<string, string> }> => {
  const values = new Map<string, string>();
  let revision = 0;
  for (let key: Buffer = Buffer.from([0]); ;) {
    const answer = await client.unary(RPC.range, { key, rangeEnd: Buffer.from([0]), limit: PAGE, revision });
    revision ||= answer.header?.revision ?? 0;
    for (const kv of answer.kvs) values.set(Buffer.from(kv.key).toString(), Buffer.from(kv.value).toString());
    const last = answer.kvs.at(-1);
    if (!answer.more || last === undefined) return { revision, values };
    key = Buffer.concat([last.key, Buffer.from([0])]);
  }
};

test(
  `nothing acknowledged is lost while members are killed and stopped (PILOTHOUSE_SEED=${seed})`,
  async () => {
    const dial: Dial = (attempt) => cluster.connect(attempt % MEMBERS);
    const writers = Array.from({ length: WRITERS }, (_, number) => new Writer({ dial, number }));
    const counters = Array.from({ length: COUNTERS }, (_, number) => new Counter({ dial, number }));
    const follower = new Follower({ dial, number: 0 });
    workers.push(...writers, ...counters, follower);
    for (const worker of [...writers, ...counters, follower]) worker.start();

    const strikes: string[] = [];
    const acknowledged = (): number => writers.reduce((sum, writer) => sum + writer.acknowledged.size, 0);
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = acknowledged();
      strikes.push(await strike());
      await cluster.healthy().catch((error: unknown) => {
        throw new Error(`seed ${seed}, round ${round}: ${strikes.join('; ')}`, { cause: error });
      });
      await until(`a put after ${strikes.at(-1)}`, () => acknowledged() > before);
    }
    await Promise.all([...writers, ...counters].map((worker) => worker.stop()));

    const clients = cluster.members.map((_member, index) => cluster.connect(index));
    try {
      // On a busy machine there may be another election: what is asked then is asked again.
      const { revision, values } = await until('all to be read', () => readAll(clients[0]!));
      const lost = writers.flatMap((writer) =>
        [...writer.acknowledged].filter(([key, value]) => values.get(key) !== value).map(([key]) => key),
      );
      expect(lost).toEqual([]);

      const count = Number(values.get(COUNTER_KEY));
      const certain = counters.reduce((sum, counter) => sum + counter.acknowledged, 0);
      const unknown = counters.reduce((sum, counter) => sum + counter.unknown, 0);
      expect(count).toBeGreaterThanOrEqual(certain);
      expect(count).toBeLessThanOrEqual(certain + unknown);

      // A hash is of what the member has: a linearizable read first brings each to the revision.
      await until('a linearizable read of every member', () =>
        Promise.all(
          clients.map((client) => client.unary(RPC.range, { key: Buffer.from(COUNTER_KEY), limit: 1 })),
        ),
      );
      const hashes = await Promise.all(clients.map((client) => client.unary(RPC.hashKv, { revision })));
      expect(new Set(hashes.map(({ hash }) => hash)).size).toBe(1);

      await until(`revision ${revision} to be followed`, () => follower.nextRevision > revision);
      // What no one was told of may still have happened later.
      expect(follower.revisions.filter((followed) => followed <= revision)).toEqual(
        Array.from({ length: revision - 1 }, (_, n) => n + 2),
      );
      expect([...values.keys()].filter((key) => !follower.keys.has(key))).toEqual([]);
      console.log(`seed ${seed}: ${acknowledged()} puts, ${count} increments, revision ${revision}`);
    } finally {
      for (const client of clients) client.close();
    }
  },
  TEST_LIMIT_MS,
);
