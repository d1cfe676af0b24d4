import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../../core/base/clock.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../core/base/disposable.ts';
import { silentLog } from '../../core/base/log.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { connect, loadOwnKubeconfig } from '../../core/client/index.ts';
import { EtcdConnection } from '../../core/cluster/etcd-operator/connection.ts';
import { OPERATOR } from '../../core/cluster/etcd-operator/methods.ts';
import { etcdAccessOf } from '../../core/cluster/etcd-operator/operations.ts';
import { consoleKubeconfigFile } from '../../core/cluster/data-folder/layout.ts';
import { planHosts } from '../../core/cluster/config/hosts.ts';
import { PORTS } from '../../core/cluster/manifests/control-plane.ts';
import { LeasesWatch } from '../../core/cluster/monitor/leases/leases-watch.ts';
import { ELECTED_COMPONENTS } from '../../core/cluster/supervisor/bootstrap.ts';
import type { LeasesView } from '../../core/contract/index.ts';
import { leaderKey, type Leaders } from './cluster-state.ts';
import type { LocalCluster } from './local-clusters.ts';

const LOOK_PAUSE_MS = 2_000;
const ANSWER_TIMEOUT_MS = 1_500;

/** A holder is the host's name and something random after it, as client-go makes it. */
const hostOfHolder = (holder: string, hosts: readonly string[]): string | undefined =>
  hosts.find((host) => holder === host || holder.startsWith(`${host}_`));

const electedLeaders = ({ leases, atMs }: LeasesView, hosts: readonly string[]): string[] =>
  leases.flatMap(({ namespace, name, holder, renewedAtMs, durationSeconds }) => {
    const host = hostOfHolder(holder, hosts);
    const isHeld = (renewedAtMs ?? 0) + durationSeconds * 1000 > atMs;
    return host !== undefined && isHeld && namespace === 'kube-system' && ELECTED_COMPONENTS.includes(name)
      ? [leaderKey(host, name)]
      : [];
  });

/** One connection a member, kept while a page shows it: a handshake costs more than the answer. */
class MemberLook implements Disposable {
  readonly #url: string;
  readonly #readTls: () => SecureContextOptions;
  #connection: EtcdConnection | undefined;

  constructor(url: string, readTls: () => SecureContextOptions) {
    this.#url = url;
    this.#readTls = readTls;
  }

  async isLeader(clock: Clock): Promise<boolean> {
    const connection = (this.#connection ??= new EtcdConnection(this.#url, this.#readTls()));
    // A member that is frozen does not respond, and the others should not wait for it.
    const late = clock.after(ANSWER_TIMEOUT_MS, () => this.dispose());
    try {
      const { leader, header } = await connection.call(OPERATOR.status, {});
      return leader !== 0n && leader === header?.memberId;
    } catch {
      this.dispose(); // down or late: queried again next time
      return false;
    } finally {
      late.dispose();
    }
  }

  dispose(): void {
    this.#connection?.close();
    this.#connection = undefined;
  }
}

/** Leases are watched with the identity of the console, which may write nothing. */
class ConsoleLeases implements Disposable {
  readonly #directory: string;
  readonly #clock: Clock;
  readonly #store = new DisposableStore();
  #opening: Promise<LeasesWatch> | undefined;

  constructor(directory: string, clock: Clock) {
    this.#directory = directory;
    this.#clock = clock;
  }

  async #open(): Promise<LeasesWatch> {
    const config = await loadOwnKubeconfig(consoleKubeconfigFile(this.#directory));
    const options = { clock: this.#clock, random: systemRandom, log: silentLog };
    const client = this.#store.add(connect(config, { ...options, userAgent: 'pilothouse' }));
    const watch = this.#store.add(new LeasesWatch({ ...options, client }));
    watch.start();
    return watch;
  }

  async view(): Promise<LeasesView> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      // The file may be being rewritten right now: the next round reads it again.
      this.#opening = undefined;
      throw error;
    });
    return (await this.#opening).view();
  }

  dispose(): void {
    this.#store.dispose();
  }
}

/** Who leads, and what every host and component uses; told after each look, until disposed. */
export const lookCloser = (
  cluster: LocalCluster,
  clock: Clock,
  tell: (leaders: Leaders) => void,
): Disposable => {
  const store = new DisposableStore();
  const { directory } = cluster;
  const members = new Map<string, MemberLook>();
  const leases = store.add(new ConsoleLeases(directory, clock));
  let isOver = false;
  let timer: Disposable | undefined;

  const etcdLeaders = async (): Promise<string[]> => {
    const running = new Set(
      cluster.state().hosts.flatMap(({ name, phase }) => (phase === 'running' ? [name] : [])),
    );
    const plans = planHosts(cluster.config).filter(({ name, etcd }) => etcd && running.has(name));
    const asked = plans.map(async ({ name, etcd }) => {
      const url = `https://${etcd!.address}:${PORTS.etcdClient}`;
      let member = members.get(url);
      if (!member) {
        // Read at every connection: certificates are renewed while the cluster runs.
        member = store.add(new MemberLook(url, () => etcdAccessOf(directory, cluster.config).tls));
        members.set(url, member);
      }
      return (await member.isLeader(clock)) ? [leaderKey(name, 'etcd')] : [];
    });
    return (await Promise.all(asked)).flat();
  };

  const elected = async (): Promise<string[]> => {
    const hosts = cluster.state().hosts.map(({ name }) => name);
    return electedLeaders(await leases.view(), hosts);
  };

  const look = async (): Promise<void> => {
    const found = await Promise.allSettled([
      elected(),
      etcdLeaders(),
      // Elsewhere the process that runs it says what it uses whenever it is asked how it is.
      Promise.resolve(cluster.supervisor?.commands.refreshUsage()).then(() => [] as string[]),
    ]);
    if (isOver) return;
    tell(new Set(found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))));
    timer = clock.after(LOOK_PAUSE_MS, () => void look());
  };
  void look();
  return toDisposable(() => {
    isOver = true;
    timer?.dispose();
    store.dispose();
  });
};
