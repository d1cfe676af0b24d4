import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { systemClock } from '../../core/base/node/clock.ts';
import { createClusterPki } from '../../core/pki/index.ts';
import { EtcdCluster, type EtcdClusterOptions } from './etcd-cluster.ts';
import { tied } from './tied.ts';

export interface ControlPlaneOptions {
  readonly etcd: EtcdClusterOptions['flavour'];
  readonly members: number;
  readonly apiServers: number;
  /**
   * Everything listens on 127.<octet>.0.n; the service network is 127.<octet>.64.0/18. Odd, and of one test alone: the hosts of
   * clusters that choose a network themselves have even ones.
   */
  readonly octet: number;
  readonly directory: string;
  readonly apiServerFlags?: readonly string[];
  /** Besides those of all: of one of them. */
  readonly flagsOf?: (index: number) => readonly string[];
  /** For the Node that runs the API servers: `--cpu-prof`, say. */
  readonly nodeFlags?: readonly string[];
}

export interface ApiServerProcess {
  readonly url: string;
  readonly process: ChildProcess;
  kill(signal: NodeJS.Signals): Promise<void>;
}

const CLI = join(process.cwd(), 'dist/cli/cli.js');
const READY_LIMIT_MS = 180_000;
const POLL_MS = 20;
const PORT = 6443;

const hostName = (index: number): string => `m${index + 1}`;

/** Members and API servers as processes of their own, over the PKI of a cluster. */
export class ControlPlane {
  readonly options: ControlPlaneOptions;
  readonly etcd: EtcdCluster;
  readonly apiServers: ApiServerProcess[] = [];

  private constructor(options: ControlPlaneOptions, etcd: EtcdCluster) {
    this.options = options;
    this.etcd = etcd;
  }

  static async create(options: ControlPlaneOptions): Promise<ControlPlane> {
    const { directory, octet, members } = options;
    mkdirSync(directory, { recursive: true });
    const size = Math.max(members, options.apiServers);
    const hosts = Array.from({ length: size }, (_, index) => ({
      name: hostName(index),
      addresses: [`127.${octet}.0.${index + 1}`],
    }));
    const endpoint = { host: `127.${octet}.0.1`, port: PORT };
    await createClusterPki(
      {
        clusterName: 'test',
        controlPlanes: hosts,
        // One server and one peer certificate that fit every member.
        etcdMembers: [{ name: 'all', addresses: hosts.flatMap(({ addresses }) => addresses) }],
        nodes: hosts,
        endpoint,
        serviceAddress: `127.${octet}.64.1`,
      },
      directory,
      systemClock,
    );
    const pki = (file: string): string => join(directory, 'pki', file);
    const certificates = {
      caFile: pki('etcd/ca.crt'),
      serverCertFile: pki('hosts/all/etcd/server.crt'),
      serverKeyFile: pki('hosts/all/etcd/server.key'),
      peerCertFile: pki('hosts/all/etcd/peer.crt'),
      peerKeyFile: pki('hosts/all/etcd/peer.key'),
      clientCertFile: pki('apiserver-etcd-client.crt'),
      clientKeyFile: pki('apiserver-etcd-client.key'),
    };
    const client = {
      ca: readFileSync(certificates.caFile),
      cert: readFileSync(certificates.clientCertFile),
      key: readFileSync(certificates.clientKeyFile),
    };
    const etcd = new EtcdCluster({
      flavour: options.etcd,
      size: members,
      octet,
      directory: join(directory, 'etcd'),
      certificates: { ...certificates, client },
    });
    return new ControlPlane(options, etcd);
  }

  /** Starts everything and waits until every API server is ready. */
  async start(): Promise<void> {
    this.etcd.start();
    for (let index = 0; index < this.options.apiServers; index += 1) this.startApiServer(index);
    await Promise.all(this.apiServers.map((_server, index) => this.ready(index)));
  }

  startApiServer(index: number): void {
    const { directory, octet, apiServerFlags = [], nodeFlags = [] } = this.options;
    const host = `127.${octet}.0.${index + 1}`;
    const pki = (file: string): string => join(directory, 'pki', file);
    const flags = [
      `--bind-address=${host}`,
      `--secure-port=${PORT}`,
      `--external-hostname=${hostName(index)}`,
      `--etcd-servers=${this.etcd.endpoints.join(',')}`,
      `--etcd-cafile=${pki('etcd/ca.crt')}`,
      `--etcd-certfile=${pki('apiserver-etcd-client.crt')}`,
      `--etcd-keyfile=${pki('apiserver-etcd-client.key')}`,
      `--tls-cert-file=${pki(`hosts/${hostName(index)}/apiserver.crt`)}`,
      `--tls-private-key-file=${pki(`hosts/${hostName(index)}/apiserver.key`)}`,
      `--client-ca-file=${pki('ca.crt')}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-account-key-file=${pki('sa.pub')}`,
      `--service-account-signing-key-file=${pki('sa.key')}`,
      `--requestheader-client-ca-file=${pki('front-proxy-ca.crt')}`,
      '--requestheader-allowed-names=front-proxy-client',
      `--kubelet-certificate-authority=${pki('ca.crt')}`,
      `--kubelet-client-certificate=${pki('apiserver-kubelet-client.crt')}`,
      `--kubelet-client-key=${pki('apiserver-kubelet-client.key')}`,
      '--enable-admission-plugins=NodeRestriction',
      `--service-cluster-ip-range=127.${octet}.64.0/18`,
      ...apiServerFlags,
      ...(this.options.flagsOf?.(index) ?? []),
    ];
    const child = spawn(
      ...tied(process.execPath, [...nodeFlags, CLI, 'component', 'kube-apiserver', ...flags]),
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const log = createWriteStream(join(directory, `apiserver-${index + 1}.log`), { flags: 'a' });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    child.once('exit', () => log.end());
    this.apiServers[index] = {
      url: `https://${host}:${PORT}`,
      process: child,
      async kill(signal) {
        if (child.exitCode !== null || child.signalCode !== null) return;
        const exited = once(child, 'exit');
        child.kill(signal);
        await exited;
      },
    };
  }

  log(index: number): string {
    return readFileSync(join(this.options.directory, `apiserver-${index + 1}.log`), 'utf8');
  }

  /** A kubeconfig of the PKI for one of the servers: `admin`, `super-admin`, `scheduler`... */
  kubeconfig(name = 'admin', index = 0): string {
    const text = readFileSync(join(this.options.directory, 'kubeconfig', `${name}.conf`), 'utf8');
    return text.replaceAll(/server: .*/g, `server: ${this.apiServers[index]!.url}`);
  }

  /** Resolves when the server says that it is ready; fails, with what it logged, when it has ended. */
  async ready(index: number): Promise<void> {
    const deadline = Date.now() + READY_LIMIT_MS;
    const server = this.apiServers[index]!;
    while (!(await this.#isReady(index))) {
      if (server.process.exitCode !== null)
        throw new Error(`API server ${index + 1} ended: ${this.log(index)}`);
      if (Date.now() > deadline) throw new Error(`API server ${index + 1} is not ready: ${this.log(index)}`);
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }

  #isReady(index: number): Promise<boolean> {
    const { directory } = this.options;
    const pki = (file: string): Buffer => readFileSync(join(directory, 'pki', file));
    return new Promise((resolve) => {
      request(
        `${this.apiServers[index]!.url}/readyz`,
        {
          agent: false,
          ca: pki('ca.crt'),
          cert: pki('apiserver-kubelet-client.crt'),
          key: pki('apiserver-kubelet-client.key'),
        },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode === 200);
        },
      )
        .on('error', () => resolve(false))
        .end();
    });
  }

  async stop(): Promise<void> {
    await Promise.all(this.apiServers.map((server) => server.kill('SIGKILL')));
    await Promise.all(this.etcd.members.map((member) => member.kill('SIGKILL')));
  }
}
