import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificates } from '../support/etcd-certificates.ts';
import { EtcdCluster, REAL_ETCD } from '../support/etcd-cluster.ts';
import { RPC } from '../support/etcd-rpc.ts';
import type { RpcClient } from '../support/grpc-client.ts';

type Flavour = 'pilothouse' | 'etcd';
const FLAVOURS: readonly Flavour[] = ['pilothouse', 'etcd'];
const OCTETS: Readonly<Record<Flavour, number>> = { pilothouse: 61, etcd: 62 };

const VALUE = Buffer.alloc(256, 'v');
const KEYS = 1000;
const ROUNDS = 3;
const MEASURE_MS = 3000;
const WATCH_MS = 2000;

interface Figure {
  readonly name: string;
  readonly unit: string;
  /** True where more is better. */
  readonly isRate: boolean;
  readonly values: Record<Flavour, number[]>;
}

const figures = new Map<string, Figure>();

const note = (name: string, unit: string, isRate: boolean, flavour: Flavour, value: number): void => {
  const figure = figures.get(name) ?? { name, unit, isRate, values: { pilothouse: [], etcd: [] } };
  figures.set(name, figure);
  figure.values[flavour].push(value);
};

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

const percentile = (values: number[], share: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;

const nowMs = (): number => performance.now();

/** Keeps `inFlight` calls in progress for a while; calls a second and the latencies. */
const load = async (
  inFlight: number,
  call: (n: number) => Promise<unknown>,
): Promise<{ perSecond: number; p99Ms: number }> => {
  const latencies: number[] = [];
  const startedAt = nowMs();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (nowMs() - startedAt < MEASURE_MS) {
      const from = nowMs();
      await call((next += 1));
      latencies.push(nowMs() - from);
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const seconds = (nowMs() - startedAt) / 1000;
  return { perSecond: latencies.length / seconds, p99Ms: percentile(latencies, 0.99) };
};

const key = (n: number): Buffer => Buffer.from(`/bench/${String(n % KEYS).padStart(6, '0')}`);

/** Of a member on average: all that is resident, or what it shares with no other process. */
const memoryMib = (cluster: EtcdCluster, field: 'VmRSS' | 'RssAnon'): number =>
  cluster.members.reduce((sum, { process: child }) => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
    return sum + Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  }, 0) / cluster.members.length;

const fanOut = async (cluster: EtcdCluster, client: RpcClient, watchers: number): Promise<number> => {
  const watchKey = Buffer.from(`/fan/${watchers}`);
  let delivered = 0;
  let arrived = (): void => undefined;
  const clients = Array.from({ length: 10 }, (_, i) => cluster.connect(i % cluster.members.length));
  let created = 0;
  const ready = new Promise<void>((resolve) => {
    for (const one of clients) {
      const stream = one.stream(RPC.watch, (response) => {
        if (response.created) {
          created += 1;
          if (created === watchers) resolve();
        }
        if (response.events.length > 0) {
          delivered += response.events.length;
          arrived();
        }
      });
      for (let i = 0; i < watchers / clients.length; i += 1)
        stream.send({ createRequest: { key: watchKey } });
    }
  });
  await ready;
  const startedAt = nowMs();
  let changes = 0;
  for (; nowMs() - startedAt < WATCH_MS; changes += 1)
    await client.unary(RPC.put, { key: watchKey, value: VALUE });
  const wanted = watchers * changes;
  await new Promise<void>((resolve) => {
    arrived = () => {
      if (delivered >= wanted) resolve();
    };
    arrived();
  });
  const seconds = (nowMs() - startedAt) / 1000;
  for (const one of clients) one.close();
  return wanted / seconds;
};

const measure = async (flavour: Flavour, cluster: EtcdCluster): Promise<void> => {
  const leader = await cluster.leader();
  const clients = cluster.members.map((_, i) => cluster.connect(i));
  await Promise.all(clients.map((client) => client.ready()));
  const atLeader = clients[leader]!;
  const any = (n: number): RpcClient => clients[n % clients.length]!;
  const puts = async (inFlight: number, when = ''): Promise<void> => {
    const { perSecond, p99Ms } = await load(inFlight, (n) =>
      any(n).unary(RPC.put, { key: key(n), value: VALUE }),
    );
    note(`put 256 B, ${inFlight} in flight${when}`, '/s', true, flavour, perSecond);
    note(`put 256 B, ${inFlight} in flight${when}, p99`, 'ms', false, flavour, p99Ms);
  };
  // Code that V8 has not optimized yet costs as much as the rest of a put: both are worth knowing.
  await puts(1, ', first seconds');
  for (const inFlight of [16, 64, 256, 1]) await puts(inFlight);
  const reads = await load(64, (n) => any(n).unary(RPC.range, { key: key(n) }));
  note('linearizable get, 64 in flight', '/s', true, flavour, reads.perSecond);
  note('linearizable get, 64 in flight, p99', 'ms', false, flavour, reads.p99Ms);
  const local = await load(64, (n) => any(n).unary(RPC.range, { key: key(n), serializable: true }));
  note('serializable get, 64 in flight', '/s', true, flavour, local.perSecond);
  const ranges = await load(4, () =>
    atLeader.unary(RPC.range, { key: Buffer.from('/bench/'), rangeEnd: Buffer.from('/bench0') }),
  );
  note('range of 1,000, 4 in flight', '/s', true, flavour, ranges.perSecond);
  for (const watchers of [100, 1000])
    note(`events to ${watchers} watchers`, '/s', true, flavour, await fanOut(cluster, atLeader, watchers));
  note('RSS per member after load', 'MiB', false, flavour, memoryMib(cluster, 'VmRSS'));
  note('RSS without shared code, after load', 'MiB', false, flavour, memoryMib(cluster, 'RssAnon'));
  for (const client of clients) client.close();
};

const ATTEMPT_MS = 150;

/** From the death of the leader to the next put that succeeds at one of the others. */
const failOver = async (cluster: EtcdCluster): Promise<number> => {
  const leader = await cluster.leader();
  const clients = cluster.members.map((_, i) => cluster.connect(i));
  await Promise.all(clients.map((client) => client.ready()));
  const others = clients.filter((_, i) => i !== leader);
  const startedAt = nowMs();
  const dead = cluster.members[leader]!.kill('SIGKILL');
  for (let n = 0; ; n += 1) {
    const put = others[n % others.length]!.unary(RPC.put, { key: key(n), value: VALUE }).then(
      () => true,
      () => false,
    );
    const late = new Promise<boolean>((resolve) => setTimeout(() => resolve(false), ATTEMPT_MS));
    if (await Promise.race([put, late])) break;
    if (nowMs() - startedAt > 30_000) throw new Error('no leader within 30 s');
  }
  const tookMs = nowMs() - startedAt;
  await dead;
  for (const client of clients) client.close();
  cluster.startMember(leader);
  await cluster.healthy([leader]);
  return tookMs;
};

const print = (): void => {
  const name = Math.max(...[...figures.keys()].map((text) => text.length));
  const cell = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(1)).padStart(10);
  console.log(`${''.padEnd(name)}  pilothouse       etcd      ratio`);
  for (const { name: label, unit, values } of figures.values()) {
    const ours = median(values.pilothouse);
    const theirs = median(values.etcd);
    const ratio = values.etcd.length > 0 ? (ours / theirs).toFixed(2) : '';
    console.log(`${label.padEnd(name)} ${cell(ours)} ${cell(theirs)} ${ratio.padStart(10)}  ${unit}`);
  }
};

/**
 * Three of our members against three of a real etcd: same certificates, same client, same machine, in turns.
 * `--ours` leaves the real one out, `--peer PATH` takes another etcd than the installed one, `--quick` takes one round,
 * `--fail-over` only starts, kills and starts again.
 */
export const run = async (args: readonly string[]): Promise<void> => {
  const peer = args.includes('--peer') ? (args[args.indexOf('--peer') + 1] ?? '') : REAL_ETCD;
  const hasPeer = existsSync(peer);
  const flavours = args.includes('--ours') || !hasPeer ? FLAVOURS.slice(0, 1) : FLAVOURS;
  const rounds = args.includes('--quick') ? 1 : ROUNDS;
  const directory = mkdtempSync(join(tmpdir(), 'pilothouse-bench-'));
  const version = hasPeer ? execFileSync(peer, ['--version'], { encoding: 'utf8' }).split('\n')[0] : 'none';
  console.log(`3 members each, mTLS on loopback, ${rounds} rounds in turns, medians; peer: ${version}`);
  try {
    for (let round = 0; round < rounds; round += 1) {
      for (const flavour of flavours) {
        const octet = OCTETS[flavour];
        const certificates = makeCertificates(join(directory, `pki-${flavour}`), octet);
        const cluster = new EtcdCluster({
          flavour,
          size: 3,
          octet,
          directory: join(directory, `${flavour}-${round}`),
          certificates,
          ...(flavour === 'etcd' && { binary: peer, extraFlags: ['--logger=zap'] }),
        });
        try {
          const startedAt = nowMs();
          cluster.start();
          await cluster.healthy();
          note('start to healthy', 'ms', false, flavour, nowMs() - startedAt);
          note('RSS per member at rest', 'MiB', false, flavour, memoryMib(cluster, 'VmRSS'));
          if (!args.includes('--fail-over')) await measure(flavour, cluster);
          for (let i = 0; i < 2; i += 1)
            note('leader killed to next put', 'ms', false, flavour, await failOver(cluster));
        } finally {
          await cluster.stop();
        }
      }
    }
    print();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
