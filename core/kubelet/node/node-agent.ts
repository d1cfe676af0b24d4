import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../api/meta/status.ts';
import { formatMicroTime, formatTime } from '../../api/meta/time.ts';
import type { V1NodeStatus } from '../../api/schema/index.ts';
import { LEASE, NODE, type Client, type Lease, type Node, type Stored } from '../../client/index.ts';
import type { ImageInfo } from '../runtimes/runtime.ts';
import type { Gate } from './gate.ts';
import {
  initialNode,
  isStatusNews,
  nodeLabels,
  nodeStatus,
  type NodeHealth,
  type NodeIdentity,
} from './node-object.ts';

export const LEASE_NAMESPACE = 'kube-node-lease';
export const LEASE_DURATION_SECONDS = 40;
export const LEASE_RENEW_MS = 10_000;
/** How often the status is looked at, and how long an unchanged one may go untold. */
export const STATUS_CHECK_MS = 10_000;
export const STATUS_REPORT_MS = 300_000;
const RETRY_MS_MIN = 200;
const RETRY_MS_MAX = 7_000;

export interface NodeAgentOptions {
  readonly identity: NodeIdentity;
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly bootID: string;
  /** Bounds the requests of all nodes of the process. */
  readonly gate: Gate;
  images(): Promise<readonly ImageInfo[]>;
  health(): Promise<NodeHealth>;
  onRegistered(node: Stored<Node>): void;
}

/** Keeps one node in the API: registers it, renews its lease, reports its status. Survives an API that is away. */
export class NodeAgent implements Disposable {
  readonly #options: NodeAgentOptions;
  #node: Stored<Node> | undefined;
  #lease: Stored<Lease> | undefined;
  #reportedMs = Number.NEGATIVE_INFINITY;
  #leaseTimer: Disposable | undefined;
  #statusTimer: Disposable | undefined;
  #isDisposed = false;

  constructor(options: NodeAgentOptions) {
    this.#options = options;
  }

  get node(): Stored<Node> | undefined {
    return this.#node;
  }

  /** Registers in the background, for as long as it takes. */
  start(): void {
    void this.#register(RETRY_MS_MIN);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#leaseTimer?.dispose();
    this.#statusTimer?.dispose();
  }

  /** The node as the API has it now: labels may have changed since. */
  async refresh(): Promise<Stored<Node> | undefined> {
    const { client, identity } = this.#options;
    this.#node = (await client.resource(NODE).find(identity.name)) ?? this.#node;
    return this.#node;
  }

  /** Reports immediately when something of the health has changed. */
  async reportNow(): Promise<void> {
    if (this.#node) await this.#report();
  }

  async #register(retryMs: number): Promise<void> {
    const { identity, clock, log, gate, random } = this.#options;
    if (this.#isDisposed) return;
    try {
      this.#node = await gate.run(() => this.#createOrAdopt());
      this.#options.onRegistered(this.#node);
      log.write('info', 'successfully registered node', { node: identity.name });
      // Spread over the interval: a thousand nodes that started together must not beat together.
      void this.#renew();
      this.#statusTimer = clock.after(STATUS_CHECK_MS * random.next(), () => void this.#checkStatus());
    } catch (error) {
      if (this.#isDisposed) return;
      log.write('warn', 'unable to register node with API server', {
        node: identity.name,
        error: messageOf(error),
      });
      this.#statusTimer = clock.after(
        retryMs,
        () => void this.#register(Math.min(retryMs * 2, RETRY_MS_MAX)),
      );
    }
  }

  async #createOrAdopt(): Promise<Stored<Node>> {
    const { client, identity } = this.#options;
    const nodes = client.resource(NODE);
    const input = await this.#statusInput(undefined);
    try {
      const created = await nodes.create(initialNode(input));
      this.#reportedMs = this.#options.clock.monotonicMs();
      // A server takes the status of a new node only through its subresource, unless it is a kubelet's own.
      return created.status?.nodeInfo ? created : await this.#patchStatus(created);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    const known = await nodes.get(identity.name);
    const labels = nodeLabels(identity);
    const isLabelled = Object.entries(labels).every(([key, value]) => known.metadata.labels?.[key] === value);
    const labelled = isLabelled
      ? known
      : await nodes.patch(identity.name, { type: 'merge', body: { metadata: { labels } } });
    return this.#patchStatus(labelled);
  }

  async #statusInput(before: V1NodeStatus | undefined) {
    const { identity, clock, bootID, health } = this.#options;
    const [images, is] = await Promise.all([this.#options.images(), health()]);
    return { identity, before, bootID, images, health: is, now: formatTime(clock.nowMs()) };
  }

  async #patchStatus(node: Stored<Node>): Promise<Stored<Node>> {
    const { client, identity, clock } = this.#options;
    const status = nodeStatus(await this.#statusInput(node.status));
    const patched = await client
      .resource(NODE)
      .patchStatus(identity.name, { type: 'strategic', body: { status } });
    this.#reportedMs = clock.monotonicMs();
    return patched;
  }

  async #checkStatus(): Promise<void> {
    if (this.#isDisposed) return;
    const { clock } = this.#options;
    const isDue = clock.monotonicMs() - this.#reportedMs >= STATUS_REPORT_MS;
    if (isDue || (await this.#hasChanged())) await this.#report();
    if (!this.#isDisposed) this.#statusTimer = clock.after(STATUS_CHECK_MS, () => void this.#checkStatus());
  }

  async #hasChanged(): Promise<boolean> {
    const before = this.#node?.status;
    return isStatusNews(before, nodeStatus(await this.#statusInput(before)));
  }

  async #report(): Promise<void> {
    const { gate, log, identity } = this.#options;
    try {
      this.#node = await gate.run(() => this.#patchStatus(this.#node!));
    } catch (error) {
      if (isNotFound(error)) return this.#registerAgain();
      log.write('warn', 'unable to update node status', { node: identity.name, error: messageOf(error) });
    }
  }

  /** Somebody deleted the node while its kubelet runs: upstream's comes back as well. */
  async #registerAgain(): Promise<void> {
    this.#leaseTimer?.dispose();
    this.#lease = undefined;
    await this.#register(RETRY_MS_MIN);
  }

  async #renew(): Promise<void> {
    const { clock, gate, log, identity, random } = this.#options;
    if (this.#isDisposed) return;
    const isFirst = this.#lease === undefined;
    try {
      this.#lease = await gate.run(() => this.#writeLease());
    } catch (error) {
      this.#lease = isConflict(error) || isNotFound(error) ? undefined : this.#lease;
      log.write('warn', 'failed to update node lease', { node: identity.name, error: messageOf(error) });
    }
    const delayMs = isFirst ? LEASE_RENEW_MS * random.next() : LEASE_RENEW_MS;
    if (!this.#isDisposed) this.#leaseTimer = clock.after(delayMs, () => void this.#renew());
  }

  async #writeLease(): Promise<Stored<Lease>> {
    const { client, clock, identity } = this.#options;
    const leases = client.resource(LEASE, LEASE_NAMESPACE);
    const spec = {
      holderIdentity: identity.name,
      leaseDurationSeconds: LEASE_DURATION_SECONDS,
      renewTime: formatMicroTime(clock.nowMs()),
    };
    const known = this.#lease ?? (await leases.find(identity.name));
    if (known) return leases.update({ ...known, spec: { ...known.spec, ...spec } });
    const uid = this.#node?.metadata.uid ?? '';
    return leases.create({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: identity.name,
        namespace: LEASE_NAMESPACE,
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: identity.name, uid }],
      },
      spec,
    });
  }
}
