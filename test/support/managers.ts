import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { silentLog } from '../../core/base/log.ts';
import { Registry } from '../../core/base/metrics/index.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import type { RequestTrace } from '../../core/apiserver/server/trace.ts';
import { configFrom, connect, LEASE, parseKubeconfig, type OwnedClient } from '../../core/client/index.ts';
import type { ControlPlane } from './control-plane.ts';
import { tied } from './tied.ts';
import { until } from './until.ts';

export type ManagerName = 'kube-scheduler' | 'kube-controller-manager';

/** One process of a manager. */
export interface ManagerReplica {
  readonly name: ManagerName;
  /** The number of its host and of the API server it speaks to. */
  readonly index: number;
  readonly process: ChildProcess;
  /** Undefined while it has not led. */
  identity(): string | undefined;
  log(): string;
  signal(signal: NodeJS.Signals): void;
  /** Sends the signal and waits for the end. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

const CLI = join(process.cwd(), 'dist/cli/cli.js');
const KUBECONFIGS: Readonly<Record<ManagerName, string>> = {
  'kube-scheduler': 'scheduler',
  'kube-controller-manager': 'controller-manager',
};

const flagsOf = (plane: ControlPlane, name: ManagerName): string[] => {
  const { directory, octet } = plane.options;
  const pki = (file: string): string => join(directory, 'pki', file);
  if (name === 'kube-scheduler') return [];
  return [
    `--cluster-signing-cert-file=${pki('ca.crt')}`,
    `--cluster-signing-key-file=${pki('ca.key')}`,
    `--root-ca-file=${pki('ca.crt')}`,
    `--service-account-private-key-file=${pki('sa.key')}`,
    `--cluster-cidr=127.${octet}.128.0/17`,
    '--allocate-node-cidrs=true',
  ];
};

export interface ManagerStart {
  readonly name: ManagerName;
  /** Runs beside this API server and speaks to no other, so that its requests can be told apart. */
  readonly index?: number;
  /** Instead of that server: a wire to it that can be cut. */
  readonly master?: string;
  readonly flags?: readonly string[];
}

/** Schedulers and controller-managers as processes of their own, beside a control plane. */
export class Managers {
  readonly plane: ControlPlane;
  readonly replicas: ManagerReplica[] = [];
  readonly #clients = new Map<string, OwnedClient>();
  #started = 0;

  constructor(plane: ControlPlane) {
    this.plane = plane;
  }

  /** A client with a kubeconfig of the PKI; the same one each time. */
  client(name = 'super-admin', index = 0): OwnedClient {
    const key = `${name} ${index}`;
    let client = this.#clients.get(key);
    if (!client) {
      const config = configFrom(parseKubeconfig(this.plane.kubeconfig(name, index)));
      client = connect(config, {
        clock: systemClock,
        random: systemRandom,
        log: silentLog,
        registry: new Registry(),
        userAgent: 'test',
      });
      this.#clients.set(key, client);
    }
    return client;
  }

  start({ name, index = 0, master, flags = [] }: ManagerStart): ManagerReplica {
    const { directory, octet } = this.plane.options;
    this.#started += 1;
    const base = join(directory, `${name}-${index + 1}-${this.#started}`);
    writeFileSync(`${base}.conf`, this.plane.kubeconfig(KUBECONFIGS[name], index), { mode: 0o600 });
    const args = [
      CLI,
      'component',
      name,
      `--kubeconfig=${base}.conf`,
      `--client-ca-file=${join(directory, 'pki/ca.crt')}`,
      `--bind-address=127.${octet}.0.${index + 1}`,
      ...(master === undefined ? [] : [`--master=${master}`]),
      ...flagsOf(this.plane, name),
      ...flags,
    ];
    const child = spawn(...tied(process.execPath, args), { stdio: ['ignore', 'pipe', 'pipe'] });
    writeFileSync(`${base}.log`, '');
    const log = createWriteStream(`${base}.log`, { flags: 'a' });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    const exited = once(child, 'exit').then(() => log.end());
    const read = (): string => readFileSync(`${base}.log`, 'utf8');
    let identity: string | undefined;
    const replica: ManagerReplica = {
      name,
      index,
      process: child,
      log: read,
      identity: () => (identity ??= /"became leader".*"identity":"([^"]+)"/.exec(read())?.[1]),
      signal: (signal) => void child.kill(signal),
      async kill(signal) {
        child.kill(signal);
        // A stopped process ends only by SIGKILL, or once it may run again.
        if (signal !== 'SIGKILL') child.kill('SIGCONT');
        await exited;
      },
    };
    this.replicas.push(replica);
    return replica;
  }

  /** Who holds the lease, when it is a process that runs. */
  async leader(name: ManagerName): Promise<ManagerReplica | undefined> {
    const lease = await this.client().resource(LEASE, 'kube-system').find(name);
    const holder = lease?.spec?.holderIdentity;
    if (!holder) return undefined;
    return this.running(name).find((replica) => replica.identity() === holder);
  }

  running(name: ManagerName): ManagerReplica[] {
    return this.replicas.filter(
      (replica) =>
        replica.name === name && replica.process.exitCode === null && replica.process.signalCode === null,
    );
  }

  whenLed(name: ManagerName, by?: (replica: ManagerReplica) => boolean): Promise<ManagerReplica> {
    return until(`a leader of ${name}`, async () => {
      const leader = await this.leader(name);
      return leader && (by?.(leader) ?? true) ? leader : undefined;
    });
  }

  /** The finished requests of one API server, oldest first; as many as its --debug-traces keeps. */
  async traces(index: number): Promise<RequestTrace[]> {
    const { items } = await this.client('super-admin', index).json<{ items: RequestTrace[] }>({
      method: 'GET',
      path: '/debug/traces',
      query: { limit: 100_000 },
    });
    return items.reverse();
  }

  async stop(): Promise<void> {
    await Promise.all(this.replicas.map((replica) => replica.kill('SIGKILL')));
    for (const client of this.#clients.values()) client.dispose();
  }
}
