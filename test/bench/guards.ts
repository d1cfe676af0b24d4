import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { stringify } from 'yaml';
import { auditPolicyYaml } from '../../core/cluster/manifests/audit-policy.ts';
import { readKubeconfig } from '../../core/pki/index.ts';
import { LoadClient, type LoadAnswer } from '../support/api-load.ts';
import { ControlPlane } from '../support/control-plane.ts';

/**
 * What the stages that guard an API server cost, and what they are good for. Two servers on the same members: one with
 * everything that a new cluster has (RBAC, fairness, audit, encrypted Secrets), one with nothing of it.
 */
const [GUARDED, OPEN] = [0, 1];
const OCTET = 67;
const CLIENTS = 16;
const OBJECTS = 100;
const ROUNDS = 4;
const ROUND_MS = 2000;
const FLOOD_CLIENTS = 64;
const RENEWALS = 300;
const RENEW_EVERY_MS = 10;
const SECRETS_PATH = '/api/v1/namespaces/default/secrets';
const LEASES_PATH = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
const GOAL_RATIO = 0.85;
const GOAL_FACTOR = 3;

const nowMs = (): number => performance.now();
const percentile = (values: number[], share: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const must = (answer: LoadAnswer, ...codes: number[]): LoadAnswer => {
  if (!codes.includes(answer.code))
    throw new Error(`${answer.code}: ${answer.body.toString().slice(0, 300)}`);
  return answer;
};

const encryptionYaml = (secret: string, isPlainFirst: boolean): string => {
  const keyed = { secretbox: { keys: [{ name: 'k', secret }] } };
  return stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      {
        resources: ['secrets'],
        providers: isPlainFirst ? [{ identity: {} }, keyed] : [keyed, { identity: {} }],
      },
    ],
  });
};

const STAGES = ['encryption', 'authorization', 'fairness', 'audit'] as const;
type Stage = (typeof STAGES)[number];

/** The flags of the guarded server turn on `stages`, those of the open one none. */
const flagsOf = (directory: string, stages: ReadonlySet<Stage>): ((index: number) => readonly string[]) => {
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  const secret = randomBytes(32).toString('base64');
  const policy = file('audit-policy.yaml', auditPolicyYaml([]));
  const guarded = file('guarded.yaml', encryptionYaml(secret, false));
  const open = file('open.yaml', encryptionYaml(secret, true));
  return (index) => {
    const has = (stage: Stage): boolean => index === GUARDED && stages.has(stage);
    return [
      `--encryption-provider-config=${has('encryption') ? guarded : open}`,
      `--authorization-mode=${has('authorization') ? 'Node,RBAC' : 'AlwaysAllow'}`,
      `--enable-priority-and-fairness=${has('fairness')}`,
      ...(has('audit')
        ? [
            `--audit-policy-file=${policy}`,
            `--audit-log-path=${join(directory, 'audit.log')}`,
            '--audit-log-mode=batch',
            '--audit-log-batch-max-size=1000',
            '--audit-log-batch-max-wait=1s',
          ]
        : []),
    ];
  };
};

/** The kubeconfig of an identity of the PKI (`admin`, `scheduler`...), and the server to ask. */
interface Target {
  readonly file: string;
  readonly url: string;
}
const targetOf = (plane: ControlPlane, name: string, index: number): Target => ({
  file: join(plane.options.directory, 'kubeconfig', `${name}.conf`),
  url: plane.apiServers[index]!.url,
});
const connectTo = ({ file, url }: Target): Promise<LoadClient> => {
  const { authorityPem: ca, credential } = readKubeconfig(readFileSync(file, 'utf8'), file);
  const { certificatePem: cert, privateKeyPem: key } = credential;
  return LoadClient.connect(url, { ca, cert, key });
};
const connectAs = (plane: ControlPlane, name: string, index: number): Promise<LoadClient> =>
  connectTo(targetOf(plane, name, index));

const secretOf = (name: string, value: string): string =>
  JSON.stringify({
    kind: 'Secret',
    apiVersion: 'v1',
    metadata: { name },
    stringData: { value, text: 'x'.repeat(500) },
  });

const TICK_US = 10_000;
/** Processor time of a process and its threads so far; NaN where the system does not tell. */
const processorUs = (pid: number | undefined): number => {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_US;
  } catch {
    return NaN;
  }
};

interface Rate {
  readonly perSecond: number;
  /** Of the API server, for each request. */
  readonly processorUs: number;
}

/** Requests per second of all clients together. */
const rateOf = async (
  clients: readonly LoadClient[],
  pid: number | undefined,
  call: (client: LoadClient, n: number) => Promise<unknown>,
): Promise<Rate> => {
  const startedAt = nowMs();
  const usedUs = processorUs(pid);
  let count = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (nowMs() - startedAt < ROUND_MS) await call(client, (count += 1));
    }),
  );
  return {
    perSecond: count / ((nowMs() - startedAt) / 1000),
    processorUs: (processorUs(pid) - usedUs) / count,
  };
};

const measureCost = async (plane: ControlPlane, only?: string): Promise<void> => {
  const clients = await Promise.all(
    [GUARDED, OPEN].map((index) =>
      Promise.all(Array.from({ length: CLIENTS }, () => connectAs(plane, 'admin', index))),
    ),
  );
  const calls: Readonly<Record<string, (index: number, round: number) => Parameters<typeof rateOf>[2]>> = {
    create: (index, round) => async (client, n) =>
      must(
        await client.request({
          method: 'POST',
          path: SECRETS_PATH,
          body: secretOf(`s-${index}-${round}-${n}`, 'first'),
        }),
        201,
        409,
      ),
    get: (index, round) => async (client, n) =>
      must(await client.request({ path: `${SECRETS_PATH}/s-${index}-${round}-${(n % OBJECTS) + 1}` }), 200),
    update: (index, round) => async (client, n) => {
      const name = `s-${index}-${round}-${(n % OBJECTS) + 1}`;
      must(
        await client.request({
          method: 'PUT',
          path: `${SECRETS_PATH}/${name}`,
          body: secretOf(name, `${round}-${n}`),
        }),
        200,
      );
    },
  };
  for (const [verb, call] of Object.entries(calls)) {
    if (only !== undefined && verb !== only) continue;
    // A slow machine may have created fewer than are read.
    if (verb !== 'create')
      for (const index of [GUARDED, OPEN])
        for (let round = 0; round <= ROUNDS; round += 1)
          for (let n = 1; n <= OBJECTS; n += 1) await calls['create']!(index, round)(clients[index]![0]!, n);
    const rates: [Rate[], Rate[]] = [[], []];
    // In turn, so that a busy moment of the machine hits both. The first round warms the code up.
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const index of [GUARDED, OPEN] as const) {
        const rate = await rateOf(clients[index]!, plane.apiServers[index]!.process.pid, call(index, round));
        if (round > 0) rates[index as 0 | 1].push(rate);
      }
    const medianOf = (of: (rate: Rate) => number): [number, number] =>
      rates.map((values) => percentile(values.map(of), 0.5)) as [number, number];
    const [guarded, open] = medianOf(({ perSecond }) => perSecond);
    const [guardedUs, openUs] = medianOf((rate) => rate.processorUs);
    const ratio = guarded / open;
    console.log(
      `${verb.padEnd(8)} ${guarded.toFixed(0).padStart(6)} /s guarded  ${open.toFixed(0).padStart(6)} /s open  ratio ${ratio.toFixed(2)}  ${ratio >= GOAL_RATIO ? 'reached' : `goal ${GOAL_RATIO}`}  server ${guardedUs.toFixed(0)} us against ${openUs.toFixed(0)} us of processor time per request`,
    );
  }
  for (const client of clients.flat()) client.close();
};

interface Lease {
  readonly spec: Readonly<Record<string, unknown>>;
}
const leaseIn = ({ body }: LoadAnswer): Lease => JSON.parse(body.toString()) as Lease;

/** As leader election does it: each update is made of what the last one answered. */
const renewals = async (client: LoadClient): Promise<number> => {
  const path = `${LEASES_PATH}/kube-scheduler`;
  const took: number[] = [];
  let lease = leaseIn(must(await client.request({ path }), 200));
  for (let n = 0; n < RENEWALS; n += 1) {
    const renewTime = new Date().toISOString().replace('Z', '000Z');
    const body = JSON.stringify({ ...lease, spec: { ...lease.spec, renewTime } });
    const from = nowMs();
    lease = leaseIn(must(await client.request({ method: 'PUT', path, body }), 200));
    took.push(nowMs() - from);
    await wait(RENEW_EVERY_MS);
  }
  return percentile(took, 0.99);
};

interface FloodCounts {
  readonly listed: number;
  readonly rejected: number;
}

/** In a thread of its own: what the clients of the flood do with their answers must not delay the renewals' clock. */
const runFlood = async (target: Target): Promise<void> => {
  const clients = await Promise.all(Array.from({ length: FLOOD_CLIENTS }, () => connectTo(target)));
  const counts = { listed: 0, rejected: 0 };
  let isOver = false;
  parentPort!.once('message', () => (isOver = true));
  parentPort!.postMessage('flooding');
  await Promise.all(
    clients.map(async (client) => {
      while (!isOver) {
        const { code } = must(await client.request({ path: `${SECRETS_PATH}?limit=50` }), 200, 429);
        if (code === 200) counts.listed += 1;
        else counts.rejected += 1;
      }
    }),
  );
  for (const client of clients) client.close();
  parentPort!.postMessage(counts);
};

const startFlood = async (target: Target): Promise<{ end(): Promise<FloodCounts> }> => {
  const thread = new Worker(new URL(import.meta.url), { workerData: target });
  await once(thread, 'message');
  return {
    async end() {
      thread.postMessage('end');
      const [counts] = (await once(thread, 'message')) as [FloodCounts];
      await thread.terminate();
      return counts;
    },
  };
};

if (!isMainThread) void runFlood(workerData as Target);

const measureFlood = async (plane: ControlPlane, index: number): Promise<void> => {
  const scheduler = await connectAs(plane, 'scheduler', index);
  const lease = {
    metadata: { name: 'kube-scheduler' },
    spec: { holderIdentity: 'bench', leaseDurationSeconds: 15 },
  };
  must(
    await scheduler.request({
      method: 'POST',
      path: LEASES_PATH,
      body: JSON.stringify({ apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...lease }),
    }),
    201,
    409,
  );
  // Each once before it counts: the code of renewals and of lists is cold at first.
  await renewals(scheduler);
  const calm = await renewals(scheduler);
  const flood = await startFlood(targetOf(plane, 'admin', index));
  await renewals(scheduler);
  const flooded = await renewals(scheduler);
  const { listed, rejected } = await flood.end();
  const factor = flooded / calm;
  console.log(
    `lease renewal p99 ${calm.toFixed(1)} ms calm, ${flooded.toFixed(1)} ms with ${FLOOD_CLIENTS} clients that list (${listed} lists, ${rejected} rejected)  factor ${factor.toFixed(2)}  ${index === OPEN ? 'open' : factor <= GOAL_FACTOR ? 'reached' : `goal ${GOAL_FACTOR}`}`,
  );
  scheduler.close();
};

/** `cost` or `flood` measures one of them; `--stages=audit,fairness` guards with these alone (`--stages=` leaves both servers open, to see what the bench itself favours); `--seats=N` limits flow control; `--cpu-prof=DIR` writes profiles; `--only=create` measures the cost of creates alone. */
export const run = async (args: readonly string[]): Promise<void> => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-guards-'));
  const option = (name: string): string | undefined =>
    args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
  const [seats, profiles] = [option('seats'), option('cpu-prof')];
  const named = option('stages')?.split(',');
  const stages = new Set(STAGES.filter((stage) => named?.includes(stage) ?? true));
  const plane = await ControlPlane.create({
    etcd: 'pilothouse',
    members: 3,
    apiServers: 2,
    octet: OCTET,
    directory,
    flagsOf: flagsOf(directory, stages),
    ...(profiles !== undefined && { nodeFlags: ['--cpu-prof', `--cpu-prof-dir=${profiles}`] }),
    ...(seats !== undefined && {
      apiServerFlags: [`--max-requests-inflight=${seats}`, '--max-mutating-requests-inflight=1'],
    }),
  });
  try {
    await plane.start();
    if (!args.includes('flood')) await measureCost(plane, option('only'));
    if (!args.includes('cost')) for (const index of [GUARDED, OPEN]) await measureFlood(plane, index);
    // A profile is written when its process ends in order.
    if (profiles !== undefined)
      await Promise.all(plane.apiServers.map((apiServer) => apiServer.kill('SIGTERM')));
  } finally {
    await plane.stop();
    rmSync(directory, { recursive: true, force: true });
  }
};
