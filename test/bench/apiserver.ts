import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoadClient, type LoadAnswer } from '../support/api-load.ts';
import { ControlPlane } from '../support/control-plane.ts';
import { hasRealEtcd } from '../support/etcd-cluster.ts';
import { measureCustomResources } from './apiserver-parts/custom-resources.ts';
import { measurePolicyUs } from './apiserver-parts/policy-cost.ts';

/**
 * One API server on three members, ours and then Debian's etcd. This process is the load: its clients have a
 * connection each, over mTLS, and no more cost than frames. No kube-apiserver runs beside it, so the figures stand
 * against those once measured of a real one on a machine of two cores.
 */
type Flavour = 'pilothouse' | 'etcd';
const OCTETS: Readonly<Record<Flavour, number>> = { pilothouse: 63, etcd: 65 };
const CLIENTS = [1, 16, 64];
const MEASURE_MS = 3000;
const CONFIG_MAPS = 6500;
const PODS = 10_000;
const WATCHERS = 500;
const WATCHER_CONNECTIONS = 10;
const CHANGES = 20;
const LISTS = 5;
const NAMESPACE = 'default';
const CONFIG_MAPS_PATH = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const PODS_PATH = `/api/v1/namespaces/${NAMESPACE}/pods`;

const POLICY = 'policy of ten expressions, per request';

/** Of a real kube-apiserver. */
const PEER: Readonly<Record<string, number>> = {
  'create, 1 client': 236,
  'create, 16 clients': 806,
  'create, 64 clients': 1092,
  'get, 16 clients': 2475,
  [`list of ${CONFIG_MAPS} ConfigMaps`]: 156,
  'start to ready': 5600,
  'RSS when fresh': 340,
};

/** What has to be reached; rates are least, the rest is most. */
const GOALS: Readonly<Record<string, number>> = {
  'create, 64 clients': 1100,
  'get, 16 clients': 3000,
  [`list of ${CONFIG_MAPS} ConfigMaps`]: 150,
  'start to ready': 1000,
  'RSS when fresh': 120,
  'custom creates / built-in': 0.7,
  'custom gets / built-in': 0.7,
  'RSS grown by 500 definitions': 60,
  'discovery of 500 definitions': 1000,
  [POLICY]: 50,
};

interface Row {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  readonly p99Ms?: number;
  /** Of the server's process, for one request. */
  readonly cpuUs?: number;
}

const nowMs = (): number => performance.now();
const percentile = (values: number[], share: number): number =>
  values.sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? NaN;
const median = (values: number[]): number => percentile(values, 0.5);

/** Clock ticks of /proc are a hundredth of a second. */
const TICK_MS = 10;
const cpuMsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
};
const rssMibOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024;

const configMap = (name: string, value: string): string =>
  JSON.stringify({
    kind: 'ConfigMap',
    apiVersion: 'v1',
    metadata: { name, labels: { app: 'bench' } },
    data: { value, text: 'x'.repeat(200) },
  });

const pod = (name: string): string =>
  JSON.stringify({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: { name, labels: { app: 'bench', tier: 'back' } },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'main',
          image: 'registry.example/app:1.2.3',
          ports: [{ containerPort: 8080 }],
          env: [{ name: 'MODE', value: 'production' }],
          resources: { requests: { cpu: '100m', memory: '64Mi' }, limits: { memory: '128Mi' } },
        },
      ],
    },
  });

const must = (answer: LoadAnswer, code: number): LoadAnswer => {
  if (answer.code !== code) throw new Error(`${answer.code}: ${answer.body.toString().slice(0, 300)}`);
  return answer;
};

class Bench {
  readonly flavour: Flavour;
  readonly plane: ControlPlane;
  readonly requests: number | undefined;

  constructor(flavour: Flavour, plane: ControlPlane, requests: number | undefined) {
    this.requests = requests;
    this.flavour = flavour;
    this.plane = plane;
  }

  get pid(): number {
    return this.plane.apiServers[0]!.process.pid!;
  }

  connect(): Promise<LoadClient> {
    const pki = (file: string): Buffer => readFileSync(join(this.plane.options.directory, 'pki', file));
    return LoadClient.connect(this.plane.apiServers[0]!.url, {
      ca: pki('ca.crt'),
      cert: pki('apiserver-kubelet-client.crt'),
      key: pki('apiserver-kubelet-client.key'),
    });
  }

  note(row: Row): void {
    const { name, value, unit, p99Ms, cpuUs } = row;
    const peer = PEER[name];
    const goal = GOALS[name];
    const isRate = unit === '/s' || unit === 'x';
    console.log(
      [
        this.flavour.padEnd(10),
        name.padEnd(38),
        `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ${unit}`.padStart(12),
        (p99Ms === undefined ? '' : `p99 ${p99Ms.toFixed(1)} ms`).padStart(14),
        (cpuUs === undefined ? '' : `cpu ${cpuUs.toFixed(0)} us`).padStart(13),
        peer === undefined ? '' : `${(isRate ? value / peer : peer / value).toFixed(2)} x kube-apiserver`,
        goal === undefined ? '' : (isRate ? value >= goal : value <= goal) ? 'reached' : `goal ${goal}`,
      ].join('  '),
    );
  }

  /** Keeps one request in progress a client. */
  async load(
    name: string,
    clients: readonly LoadClient[],
    call: (client: LoadClient, n: number) => Promise<unknown>,
    requests: number | undefined = this.requests,
  ): Promise<number> {
    const latencies: number[] = [];
    const startedAt = nowMs();
    const cpuFromMs = cpuMsOf(this.pid);
    let next = 0;
    const goesOn = (): boolean =>
      requests === undefined ? nowMs() - startedAt < MEASURE_MS : next < requests;
    const work = async (client: LoadClient): Promise<void> => {
      while (goesOn()) {
        const from = nowMs();
        await call(client, (next += 1));
        latencies.push(nowMs() - from);
      }
    };
    await Promise.all(clients.map(work));
    const value = latencies.length / ((nowMs() - startedAt) / 1000);
    this.note({
      name,
      value,
      unit: '/s',
      p99Ms: percentile(latencies, 0.99),
      cpuUs: ((cpuMsOf(this.pid) - cpuFromMs) * 1000) / latencies.length,
    });
    return value;
  }

  rssMib(): number {
    return rssMibOf(this.pid);
  }
}

const plural = (count: number): string => (count === 1 ? '1 client' : `${count} clients`);

const measureVerbs = async (bench: Bench, clients: readonly LoadClient[]): Promise<void> => {
  let made = 0;
  for (const count of CLIENTS)
    await bench.load(`create, ${plural(count)}`, clients.slice(0, count), async (client) => {
      made += 1;
      must(
        await client.request({
          method: 'POST',
          path: CONFIG_MAPS_PATH,
          body: configMap(`cm-${made}`, 'first'),
        }),
        201,
      );
    });
  for (const count of CLIENTS)
    await bench.load(`get, ${plural(count)}`, clients.slice(0, count), async (client, n) => {
      must(await client.request({ path: `${CONFIG_MAPS_PATH}/cm-${(n % made) + 1}` }), 200);
    });
  for (const count of CLIENTS)
    await bench.load(`update, ${plural(count)}`, clients.slice(0, count), async (client, n) => {
      const name = `cm-${(n % made) + 1}`;
      must(
        await client.request({
          method: 'PUT',
          path: `${CONFIG_MAPS_PATH}/${name}`,
          body: configMap(name, `${count}-${n}`),
        }),
        200,
      );
    });
  await fill(clients, made);
};

/** To exactly so many ConfigMaps as the lists speak of. */
const fill = async (clients: readonly LoadClient[], made: number): Promise<void> => {
  let next = made;
  await Promise.all(
    clients.map(async (client) => {
      for (next += 1; next <= CONFIG_MAPS; next += 1)
        await client.request({
          method: 'POST',
          path: CONFIG_MAPS_PATH,
          body: configMap(`cm-${next}`, 'first'),
        });
    }),
  );
  for (let n = CONFIG_MAPS + 1; n <= made; n += clients.length)
    await Promise.all(
      clients.map((client, at) =>
        n + at <= made
          ? client.request({ method: 'DELETE', path: `${CONFIG_MAPS_PATH}/cm-${n + at}` })
          : undefined,
      ),
    );
};

const measureList = async (
  bench: Bench,
  client: LoadClient,
  name: string,
  path: string,
  items: number,
): Promise<void> => {
  const took: number[] = [];
  const cpuFromMs = cpuMsOf(bench.pid);
  for (let round = 0; round < LISTS; round += 1) {
    const from = nowMs();
    const { body } = must(await client.request({ path }), 200);
    took.push(nowMs() - from);
    const { length } = (JSON.parse(body.toString()) as { items: unknown[] }).items;
    if (Math.abs(length - items) > items * 0.05) throw new Error(`${length} items`);
  }
  const cpuUs = ((cpuMsOf(bench.pid) - cpuFromMs) * 1000) / LISTS;
  bench.note({ name, value: median(took), unit: 'ms', cpuUs });
};

/** From the acknowledgement of a change to its event on the last of many watches. */
const measureFanOut = async (bench: Bench, client: LoadClient): Promise<void> => {
  const path = `/api/v1/namespaces/${NAMESPACE}/configmaps?watch=1&fieldSelector=metadata.name%3Dcm-1`;
  const connections = await Promise.all(Array.from({ length: WATCHER_CONNECTIONS }, () => bench.connect()));
  let told = 0;
  let wake = (): void => undefined;
  const seen = (count: number): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => void (told >= count && resolve());
      wake = check;
      check();
    });
  const onEvent = (): void => {
    told += 1;
    wake();
  };
  // A few at a time: priority and fairness rejects a client that starts hundreds of watches at one moment.
  await Promise.all(
    connections.map(async (connection) => {
      for (let n = 0; n < WATCHERS / WATCHER_CONNECTIONS; n += 1) {
        const code = await new Promise<number>((resolve) => connection.watch(path, onEvent, resolve));
        if (code !== 200) throw new Error(`a watch was answered with ${code}`);
      }
    }),
  );
  await seen(WATCHERS);
  const took: number[] = [];
  const cpuFromMs = cpuMsOf(bench.pid);
  for (let change = 1; change <= CHANGES; change += 1) {
    const from = nowMs();
    const body = configMap('cm-1', `fan-${change}`);
    must(await client.request({ method: 'PUT', path: `${CONFIG_MAPS_PATH}/cm-1`, body }), 200);
    await seen(WATCHERS * (change + 1));
    took.push(nowMs() - from);
  }
  bench.note({
    name: `one change to ${WATCHERS} watchers`,
    value: median(took),
    unit: 'ms',
    p99Ms: percentile(took, 0.99),
    cpuUs: ((cpuMsOf(bench.pid) - cpuFromMs) * 1000) / CHANGES,
  });
  for (const connection of connections) connection.close();
};

/** Every event of a stream of changes, on one watch. */
const measureWatch = async (
  bench: Bench,
  clients: readonly LoadClient[],
  watchers: number,
): Promise<void> => {
  const connections = await Promise.all(Array.from({ length: watchers }, () => bench.connect()));
  let told = 0;
  let wake = (): void => undefined;
  const { body } = must(await clients[0]!.request({ path: `${CONFIG_MAPS_PATH}?limit=1` }), 200);
  const { resourceVersion } = (JSON.parse(body.toString()) as { metadata: { resourceVersion: string } })
    .metadata;
  for (const connection of connections)
    connection.watch(`${CONFIG_MAPS_PATH}?watch=1&resourceVersion=${resourceVersion}`, () => {
      told += 1;
      wake();
    });
  const changes = 1000;
  const startedAt = nowMs();
  const cpuFromMs = cpuMsOf(bench.pid);
  let next = 0;
  await Promise.all(
    clients.slice(0, 16).map(async (client) => {
      for (next += 1; next <= changes; next += 1) {
        const name = `cm-${(next % CONFIG_MAPS) + 1}`;
        await client.request({
          method: 'PUT',
          path: `${CONFIG_MAPS_PATH}/${name}`,
          body: configMap(name, `watch-${watchers}-${next}`),
        });
      }
    }),
  );
  const expected = changes * watchers;
  await new Promise<void>((resolve) => {
    wake = () => void (told >= expected && resolve());
    wake();
  });
  const seconds = (nowMs() - startedAt) / 1000;
  bench.note({
    name: `watch events, ${plural(watchers)}`,
    value: told / seconds,
    unit: '/s',
    cpuUs: ((cpuMsOf(bench.pid) - cpuFromMs) * 1000) / told,
  });
  for (const connection of connections) connection.close();
};

const measurePods = async (bench: Bench, clients: readonly LoadClient[]): Promise<void> => {
  const account = { kind: 'ServiceAccount', apiVersion: 'v1', metadata: { name: 'default' } };
  await clients[0]!.request({
    method: 'POST',
    path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`,
    body: JSON.stringify(account),
  });
  const beforeMib = rssMibOf(bench.pid);
  await bench.load(
    'create of pods, 16 clients',
    clients.slice(0, 16),
    async (client, n) => {
      must(await client.request({ method: 'POST', path: PODS_PATH, body: pod(`pod-${n}`) }), 201);
    },
    PODS,
  );
  await measureList(bench, clients[0]!, `list of ${PODS} pods`, PODS_PATH, PODS);
  const metrics = must(await clients[0]!.request({ path: '/metrics' }), 200).body.toString();
  const heapMib = Number(/^nodejs_heap_size_used_bytes (\S+)/m.exec(metrics)?.[1] ?? NaN) / 2 ** 20;
  if (!Number.isNaN(heapMib)) bench.note({ name: 'heap in use', value: heapMib, unit: 'MiB' });
  bench.note({ name: `RSS grown by ${PODS} pods`, value: rssMibOf(bench.pid) - beforeMib, unit: 'MiB' });
};

interface Settings {
  readonly directory: string;
  readonly only: ReadonlySet<string>;
  readonly members: number;
  /** Instead of a time for each figure. */
  readonly requests: number | undefined;
  readonly nodeFlags: readonly string[];
}

const runFlavour = async (flavour: Flavour, settings: Settings): Promise<void> => {
  const { directory, only, members, requests, nodeFlags } = settings;
  const plane = await ControlPlane.create({
    etcd: flavour,
    members,
    apiServers: 1,
    octet: OCTETS[flavour],
    directory: join(directory, flavour),
    nodeFlags,
  });
  const bench = new Bench(flavour, plane, requests);
  const wants = (part: string): boolean => only.size === 0 || only.has(part);
  try {
    // The first start fills an empty cluster; the second one is that of a server that comes back.
    await plane.start();
    await plane.apiServers[0]!.kill('SIGTERM');
    const startedAt = nowMs();
    plane.startApiServer(0);
    await plane.ready(0);
    bench.note({ name: 'start to ready', value: nowMs() - startedAt, unit: 'ms' });
    await new Promise((resolve) => setTimeout(resolve, 2000));
    bench.note({ name: 'RSS when fresh', value: rssMibOf(bench.pid), unit: 'MiB' });
    const clients = await Promise.all(Array.from({ length: Math.max(...CLIENTS) }, () => bench.connect()));
    if (wants('verbs')) {
      await measureVerbs(bench, clients);
      await measureList(
        bench,
        clients[0]!,
        `list of ${CONFIG_MAPS} ConfigMaps`,
        CONFIG_MAPS_PATH,
        CONFIG_MAPS,
      );
    }
    if (wants('watch')) {
      if (!wants('verbs')) await fill(clients, 0);
      for (const count of CLIENTS) await measureWatch(bench, clients, count);
      await measureFanOut(bench, clients[0]!);
    }
    if (wants('policy')) bench.note({ name: POLICY, value: await measurePolicyUs(), unit: 'us' });
    if (wants('pods')) await measurePods(bench, clients);
    if (wants('custom')) await measureCustomResources(bench, clients);
    for (const client of clients) client.close();
    if (nodeFlags.length > 0) await plane.apiServers[0]!.kill('SIGTERM');
  } finally {
    await plane.stop();
  }
};

const option = (args: readonly string[], name: string): string | undefined =>
  args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);

/**
 * `--ours` leaves out Debian's etcd; `verbs`, `watch`, `pods` or `custom` measures only that; `--requests=N` makes as many
 * of each instead of as many as fit into a time; `--members=1`; `--cpu-prof=DIR` writes profiles of the server.
 */
export const run = async (args: readonly string[]): Promise<void> => {
  const flavours: Flavour[] = ['pilothouse'];
  if (hasRealEtcd() && !args.includes('--ours')) flavours.push('etcd');
  const only = new Set(args.filter((arg) => !arg.startsWith('--')));
  const directory = mkdtempSync(join(tmpdir(), 'bench-apiserver-'));
  const [members, requests] = [option(args, 'members'), option(args, 'requests')].map((text) =>
    text === undefined ? undefined : Number(text),
  );
  const profiles = option(args, 'cpu-prof');
  const settings: Settings = {
    directory,
    only,
    members: members ?? 3,
    requests,
    nodeFlags: profiles === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profiles}`],
  };
  console.log(`one API server, ${settings.members} members, mTLS on loopback, a connection a client`);
  try {
    for (const flavour of flavours) await runFlavour(flavour, settings);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
