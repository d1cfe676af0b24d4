import type { SecureContextOptions } from 'node:tls';
import type { Clock } from '../../core/base/clock.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../core/base/disposable.ts';
import { LEASE } from '../../core/client/index.ts';
import { EtcdConnection } from '../../core/cluster/etcd-operator/connection.ts';
import { OPERATOR } from '../../core/cluster/etcd-operator/methods.ts';
import { etcdAccessOf } from '../../core/cluster/etcd-operator/operations.ts';
import type { Supervisor } from '../../core/cluster/index.ts';
import { PORTS } from '../../core/cluster/manifests/control-plane.ts';
import { ELECTED_COMPONENTS } from '../../core/cluster/supervisor/bootstrap.ts';
import { leaderKey, type Leaders } from './cluster-state.ts';

const LOOK_PAUSE_MS = 2_000;
const ANSWER_TIMEOUT_MS = 1_500;

/** A holder is the host's name and something random after it, as client-go makes it. */
const hostOfHolder = (holder: string, hosts: readonly string[]): string | undefined =>
  hosts.find((host) => holder === host || holder.startsWith(`${host}_`));

const electedLeaders = async (supervisor: Supervisor, nowMs: number): Promise<string[]> => {
  const { client } = supervisor;
  if (!client) return [];
  const hosts = supervisor.hosts.map(({ plan }) => plan.name);
  const query = { resourceVersion: '0', timeoutMs: ANSWER_TIMEOUT_MS };
  const { items } = await client.resource(LEASE, 'kube-system').list(query);
  return items.flatMap(({ metadata, spec }) => {
    const host = hostOfHolder(spec?.holderIdentity ?? '', hosts);
    const endsMs = Date.parse(spec?.renewTime ?? '') + (spec?.leaseDurationSeconds ?? 0) * 1000;
    return host !== undefined && ELECTED_COMPONENTS.includes(metadata.name) && endsMs > nowMs
      ? [leaderKey(host, metadata.name)]
      : [];
  });
};

/** One connection a member, kept while somebody looks: a handshake costs more than the answer. */
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
    // A member that is frozen answers nothing, and the others should not wait for it.
    const late = clock.after(ANSWER_TIMEOUT_MS, () => this.dispose());
    try {
      const { leader, header } = await connection.call(OPERATOR.status, {});
      return leader !== 0n && leader === header?.memberId;
    } catch {
      this.dispose(); // down or late: it is asked anew at the next look
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

/** Who leads, and what every host and component uses; told after each look, until disposed. */
export const lookCloser = (
  supervisor: Supervisor,
  clock: Clock,
  tell: (leaders: Leaders) => void,
): Disposable => {
  const store = new DisposableStore();
  const { directory } = supervisor.folder;
  const members = new Map<string, MemberLook>();
  let isOver = false;
  let timer: Disposable | undefined;

  const etcdLeaders = async (): Promise<string[]> => {
    const hosts = supervisor.hosts.filter(({ plan, phase }) => plan.etcd && phase === 'running');
    const asked = hosts.map(async ({ plan }) => {
      const url = `https://${plan.etcd!.address}:${PORTS.etcdClient}`;
      let member = members.get(url);
      if (!member) {
        // Read at every connection: certificates are renewed while the cluster runs.
        member = store.add(new MemberLook(url, () => etcdAccessOf(directory, supervisor.config).tls));
        members.set(url, member);
      }
      return (await member.isLeader(clock)) ? [leaderKey(plan.name, 'etcd')] : [];
    });
    return (await Promise.all(asked)).flat();
  };

  const look = async (): Promise<void> => {
    const found = await Promise.allSettled([
      electedLeaders(supervisor, clock.nowMs()),
      etcdLeaders(),
      supervisor.refreshUsage().then(() => [] as string[]),
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
