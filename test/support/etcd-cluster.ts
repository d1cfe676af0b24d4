import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { SecureContextOptions } from 'node:tls';
import { connectRpc, type RpcClient } from './grpc-client.ts';
import { RPC } from './etcd-rpc.ts';
import { tied } from './tied.ts';
import { until } from './until.ts';

/** Files of one member's certificates; the same shape serves ours and a real etcd. */
export interface ClusterCertificates {
  readonly caFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  readonly peerCertFile: string;
  readonly peerKeyFile: string;
  readonly clientCertFile: string;
  readonly clientKeyFile: string;
  /** What a client connects with. */
  readonly client: SecureContextOptions;
}

export interface EtcdClusterOptions {
  readonly flavour: 'pilothouse' | 'etcd';
  readonly size: number;
  /** Members listen on 127.<octet>.0.<n>, so that clusters never collide. */
  readonly octet: number;
  readonly directory: string;
  readonly certificates: ClusterCertificates;
  readonly extraFlags?: readonly string[];
  /** A real etcd other than the installed one. */
  readonly binary?: string;
}

export interface EtcdProcess {
  readonly name: string;
  readonly clientUrl: string;
  readonly dataDirectory: string;
  readonly process: ChildProcess;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** How one member differs from the founders; kept when it is started again. */
export interface MemberStart {
  /** `existing` joins the cluster that `initialCluster` names. */
  readonly state?: 'new' | 'existing';
  readonly initialCluster?: string;
  readonly extraFlags?: readonly string[];
}

const START_LIMIT_MS = 100_000;
const POLL_MS = 20;
/** A member that is stopped takes connections and says nothing. */
const STATUS_LIMIT_MS = 10_000;

export const REAL_ETCD = '/usr/bin/etcd';
export const hasRealEtcd = (): boolean => existsSync(REAL_ETCD);

/** Tests and benches run in the root of the project, from sources or bundled. */
const CLI = join(process.cwd(), 'dist/cli/cli.js');

/** Three (or one, or five) members as processes of their own. */
export class EtcdCluster {
  readonly options: EtcdClusterOptions;
  readonly members: EtcdProcess[] = [];
  readonly #starts = new Map<number, MemberStart>();

  constructor(options: EtcdClusterOptions) {
    this.options = options;
    mkdirSync(options.directory, { recursive: true });
  }

  get endpoints(): string[] {
    return this.members.map((member) => member.clientUrl);
  }

  start(): void {
    for (let index = 0; index < this.options.size; index += 1) this.startMember(index);
  }

  startMember(index: number, start: MemberStart = this.#starts.get(index) ?? {}): void {
    this.#starts.set(index, start);
    const name = `m${index + 1}`;
    const { binary = REAL_ETCD, certificates, directory, flavour } = this.options;
    const host = this.#host(index);
    const dataDirectory = join(directory, name);
    const flags = [
      `--name=${name}`,
      `--data-dir=${dataDirectory}`,
      `--listen-client-urls=https://${host}:2379`,
      `--advertise-client-urls=https://${host}:2379`,
      `--listen-peer-urls=https://${host}:2380`,
      `--initial-advertise-peer-urls=https://${host}:2380`,
      `--initial-cluster=${start.initialCluster ?? this.#initialCluster()}`,
      `--initial-cluster-state=${start.state ?? 'new'}`,
      `--cert-file=${certificates.serverCertFile}`,
      `--key-file=${certificates.serverKeyFile}`,
      '--client-cert-auth=true',
      `--trusted-ca-file=${certificates.caFile}`,
      `--peer-cert-file=${certificates.peerCertFile}`,
      `--peer-key-file=${certificates.peerKeyFile}`,
      '--peer-client-cert-auth=true',
      `--peer-trusted-ca-file=${certificates.caFile}`,
      ...(this.options.extraFlags ?? []),
      ...(start.extraFlags ?? []),
    ];
    const [command, first] =
      flavour === 'etcd' ? [binary, []] : [process.execPath, [CLI, 'component', 'etcd']];
    // The member writes its log on its own: what it said before it ended is there when its end is told.
    const log = openSync(join(directory, `${name}.log`), 'a');
    const child = spawn(...tied(command, [...first, ...flags]), { stdio: ['ignore', log, log] });
    closeSync(log);
    this.members[index] = {
      name,
      clientUrl: `https://${host}:2379`,
      dataDirectory,
      process: child,
      async kill(signal) {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, 'exit');
        child.kill(signal);
        await exited;
      },
    };
  }

  /** What the member has logged in all its lives. */
  log(index: number): string {
    return readFileSync(join(this.options.directory, `m${index + 1}.log`), 'utf8');
  }

  peerUrl(index: number): string {
    return `https://${this.#host(index)}:2380`;
  }

  connect(index: number): RpcClient {
    return connectRpc(this.members[index]!.clientUrl, this.options.certificates.client);
  }

  /** Resolves when every given member answers a linearizable read. */
  async healthy(indexes = this.members.map((_member, index) => index)): Promise<void> {
    const deadline = Date.now() + START_LIMIT_MS;
    for (const index of indexes) {
      for (;;) {
        const client = this.connect(index);
        try {
          await client.ready();
          await client.unary(RPC.range, { key: Buffer.from('health') });
          break;
        } catch (error) {
          if (Date.now() > deadline) throw new Error(`member ${index + 1} is not healthy`, { cause: error });
          await new Promise((resolve) => setTimeout(resolve, POLL_MS));
        } finally {
          client.close();
        }
      }
    }
  }

  /** The member that leads now; waits where an election is in progress. */
  leader(): Promise<number> {
    return until('a member that leads', async () => {
      for (let index = 0; index < this.members.length; index += 1) if (await this.#leads(index)) return index;
      return undefined;
    });
  }

  async #leads(index: number): Promise<boolean> {
    const { process: child } = this.members[index]!;
    if (child.exitCode !== null || child.signalCode !== null) return false;
    const client = this.connect(index);
    // Closing fails what is in progress.
    const limit = setTimeout(() => client.close(), STATUS_LIMIT_MS);
    try {
      await client.ready();
      const status = await client.unary(RPC.status, {});
      return status.header?.memberId === status.leader;
    } catch {
      return false; // it is ending, or not there yet: another one may lead
    } finally {
      clearTimeout(limit);
      client.close();
    }
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.kill('SIGKILL')));
    rmSync(this.options.directory, { recursive: true, force: true });
  }

  #host(index: number): string {
    return `127.${this.options.octet}.0.${index + 1}`;
  }

  #initialCluster(): string {
    return Array.from(
      { length: this.options.size },
      (_, i) => `m${i + 1}=https://${this.#host(i)}:2380`,
    ).join(',');
  }
}
