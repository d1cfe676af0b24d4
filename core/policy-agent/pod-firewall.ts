import { writeFile } from 'node:fs/promises';
import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import { NftTable, runCommand, type RunCommand } from '../base/node/nft-table.ts';
import type { Random } from '../base/random.ts';
import {
  InformerFactory,
  NAMESPACE,
  NETWORK_POLICY,
  NODE,
  POD,
  type Client,
  type Informer,
  type Namespace,
  type NetworkPolicy,
  type Node,
  type Pod,
} from '../client/index.ts';
import { inOrder, packetRules, policyPod, type PacketPod } from '../network-policy/index.ts';
import { small, smallNode, smallPod } from './small-objects.ts';

/** Changes that come together are written together. */
const SETTLE_MS = 50;
const RETRY_MS = 5_000;
/** A pod whose rules cannot be written starts all the same, as with other networks; the log says so. */
const ADMIT_MS_MAX = 10_000;

/** Packets between pods of one bridge are filtered only with it. The kernel has it per network namespace. */
const BRIDGE_FILTER = '/proc/sys/net/bridge/bridge-nf-call-iptables';

export interface PodFirewallOptions {
  /** The bridge that the pods of this machine are on: one cluster at a time has it. */
  readonly bridge: string;
  /** Tells the tables of hosts of one cluster apart, and those of another cluster that had the bridge before. */
  readonly cluster: string;
  readonly host: string;
  /** Whether a pod with this address is on this machine. */
  isLocal(address: string): boolean;
  readonly nodeNames: readonly string[];
  connect(): Promise<Client & Disposable>;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly run?: RunCommand;
  readonly bridgeFilter?: () => Promise<void>;
}

/** `modprobe` fails where the kernel has it built in. */
const filterBridges = async (run: RunCommand): Promise<void> => {
  await run(['modprobe', 'br_netfilter']).catch(() => undefined);
  await writeFile(BRIDGE_FILTER, '1');
};

interface Followed {
  addHandler(handler: Record<'added' | 'updated' | 'deleted', () => void>): unknown;
  onHealth(listener: () => void): unknown;
}

interface Watched {
  readonly informers: InformerFactory;
  readonly pods: Informer<Pod>;
  readonly namespaces: Informer<Namespace>;
  readonly nodes: Informer<Node>;
}

/**
 * NetworkPolicies in the kernel, for real pods of this machine: a table of nftables that follows policies, pods, namespaces and
 * nodes. Without a policy there is no table and a single watch. The table stays when the kubelet ends, as its pods do.
 */
export class PodFirewall implements Disposable {
  readonly #options: PodFirewallOptions;
  readonly #run: RunCommand;
  readonly #name: string;
  readonly #table: NftTable;
  /** Pods whose addresses the API has not told yet, by uid. */
  readonly #early = new Map<string, PacketPod>();
  readonly #waiting = new Set<() => void>();
  #client: (Client & Disposable) | undefined;
  #watch: InformerFactory | undefined;
  #policies: Informer<NetworkPolicy> | undefined;
  #watched: Watched | undefined;
  #timer: Disposable | undefined;
  #writing: Promise<void> | undefined;
  #isDirty = true;
  /** Told once, while it is tried again. */
  #failure: string | undefined;
  #isFiltering = false;
  #isDisposed = false;

  constructor(options: PodFirewallOptions) {
    this.#options = options;
    this.#run = options.run ?? runCommand;
    const { bridge, cluster, host } = options;
    this.#name = `pilothouse-${bridge}-${cluster}-${host}`;
    this.#table = new NftTable({ family: 'ip', name: this.#name }, this.#run);
  }

  start(): void {
    this.#later(0);
  }

  /** Before the containers of a pod start: its rules are written when it resolves, or cannot be. */
  async admit(pod: Pod, addresses: readonly string[]): Promise<void> {
    const uid = pod.metadata?.uid ?? '';
    const [address] = addresses;
    const known =
      address === undefined ? undefined : policyPod({ ...pod, status: { ...pod.status, podIP: address } });
    if (address === undefined || !known) return;
    this.#early.set(uid, { address, pod: known });
    if (this.#policies?.synced === true && this.#policies.store.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.after(ADMIT_MS_MAX, () => {
        this.#options.log.write('warn', 'a pod starts before NetworkPolicies are in force for it', { uid });
        done();
      });
      const done = (): void => {
        timer.dispose();
        this.#waiting.delete(done);
        resolve();
      };
      this.#waiting.add(done);
      this.#changed();
    });
  }

  forget(uid: string): void {
    if (this.#early.delete(uid)) this.#changed();
  }

  /** Rules stay. */
  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#watched?.informers.dispose();
    this.#watch?.dispose();
    this.#client?.dispose();
    for (const done of [...this.#waiting]) done();
  }

  #changed(): void {
    this.#isDirty = true;
    this.#later(SETTLE_MS);
  }

  #later(delayMs: number): void {
    if (this.#isDisposed || this.#writing || this.#timer) return;
    this.#timer = this.#options.clock.after(delayMs, () => {
      this.#timer = undefined;
      this.#writing = this.#turn()
        .then(() => undefined)
        .catch((error: unknown) => {
          const why = messageOf(error);
          if (why !== this.#failure)
            this.#options.log.write('error', 'NetworkPolicies are not in force', { error: why });
          this.#failure = why;
          this.#isDirty = true;
          return RETRY_MS;
        })
        .then((retryMs) => {
          this.#writing = undefined;
          if (this.#isDirty) this.#later(retryMs ?? SETTLE_MS);
        });
    });
  }

  async #turn(): Promise<void> {
    const policies = await this.#open();
    this.#isDirty = false;
    if (this.#isDisposed || !policies.synced) return;
    if (policies.store.size === 0) await this.#clear();
    else if (!(await this.#write(policies))) return;
    this.#failure = undefined;
    if (this.#isDirty) return;
    for (const done of [...this.#waiting]) done();
  }

  async #open(): Promise<Informer<NetworkPolicy>> {
    if (this.#policies) return this.#policies;
    const { connect, clock, random, log } = this.#options;
    const client = await connect();
    if (this.#isDisposed) client.dispose();
    this.#client = client;
    this.#watch = new InformerFactory({ client, clock, random, log });
    this.#policies = this.#watch.informer(NETWORK_POLICY);
    this.#follow(this.#policies);
    if (!this.#isDisposed) this.#watch.start();
    return this.#policies;
  }

  #follow(informer: Followed): void {
    const changed = (): void => this.#changed();
    informer.addHandler({ added: changed, updated: changed, deleted: changed });
    // Also a list without anything on it.
    informer.onHealth(changed);
  }

  async #clear(): Promise<void> {
    this.#watched?.informers.dispose();
    this.#watched = undefined;
    if (!this.#isFiltering && !(await this.#takeOver())) return;
    await this.#table.remove();
    this.#isFiltering = false;
  }

  /** Whether a kubelet before has left a table. Those of a cluster that had these addresses before go. */
  async #takeOver(): Promise<boolean> {
    const { bridge, cluster } = this.#options;
    const listed = await this.#run(['nft', 'list', 'tables']).catch(() => '');
    const names = listed.split('\n').flatMap((line) => /^table ip (\S+)$/.exec(line)?.[1] ?? []);
    for (const name of names)
      if (name.startsWith(`pilothouse-${bridge}-`) && !name.startsWith(`pilothouse-${bridge}-${cluster}-`))
        await new NftTable({ family: 'ip', name }, this.#run).remove();
    return names.includes(this.#name);
  }

  /** False: not everything is known yet. */
  async #write(policies: Informer<NetworkPolicy>): Promise<boolean> {
    if (!this.#watched) {
      this.#watched = this.#watchAll();
      this.#watched.informers.start();
    }
    const { pods, namespaces, nodes } = this.#watched;
    if (!pods.synced || !namespaces.synced || !nodes.synced) return false;
    if (!this.#isFiltering) {
      await this.#takeOver();
      await (this.#options.bridgeFilter ?? (() => filterBridges(this.#run)))();
    }
    const all = new Map(this.#early);
    for (const pod of pods.store.list()) {
      const known = policyPod(pod);
      if (known) all.set(pod.metadata.uid, { address: pod.status?.podIP ?? '', pod: known });
      // Its end is told by its status; until it is gone, its address may be another pod's.
      else if (pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed')
        all.delete(pod.metadata.uid);
    }
    await this.#table.write(
      packetRules({
        pods: [...all.values()],
        isLocal: this.#options.isLocal,
        machines: this.#otherMachines(nodes),
        policies: inOrder(policies.store.list()),
        source: {
          policiesOf: (namespace) => policies.store.inNamespace(namespace),
          namespaceLabels: (namespace) => {
            const found = namespaces.store.get(namespace);
            return found && (found.metadata.labels ?? {});
          },
        },
      }),
    );
    this.#isFiltering = true;
    return true;
  }

  #otherMachines(nodes: Informer<Node>): readonly string[] {
    return nodes.store
      .list()
      .filter(({ metadata }) => !this.#options.nodeNames.includes(metadata.name))
      .flatMap(({ status }) => status?.addresses ?? [])
      .filter(({ type, address }) => type === 'InternalIP' && !address.startsWith('127.'))
      .map(({ address }) => address);
  }

  #watchAll(): Watched {
    const { clock, random, log } = this.#options;
    const informers = new InformerFactory({ client: this.#client!, clock, random, log });
    const pods = informers.informer(POD, { transform: smallPod });
    const namespaces = informers.informer(NAMESPACE, { transform: small });
    const nodes = informers.informer(NODE, { transform: smallNode });
    for (const informer of [pods, namespaces, nodes]) this.#follow(informer);
    return { informers, pods, namespaces, nodes };
  }
}
