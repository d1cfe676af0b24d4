import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { assert } from '../base/assert.ts';
import { messageOf } from '../base/errors.ts';
import type { Log } from '../base/log.ts';
import type { Registry } from '../base/metrics/index.ts';
import type { Random } from '../base/random.ts';
import { sharedClock } from '../base/shared-clock.ts';
import { releaseOfVersion, type Release } from '../api/releases/index.ts';
import {
  POD,
  SERVICE,
  silentEvents,
  type Client,
  type EventRecorder,
  type Informer,
  type InformerFactory,
  type Pod,
  type Service,
} from '../client/index.ts';
import type { ClusterDns } from './dns/pod-dns.ts';
import { gate } from './node/gate.ts';
import { KubeletNode } from './node/kubelet-node.ts';
import { NodeAgent } from './node/node-agent.ts';
import { allocatableOf, type NodeHealth, type NodeIdentity } from './node/node-object.ts';
import type { Runtime } from './runtimes/runtime.ts';
import { ManifestFolder } from './static-pods/manifest-folder.ts';
import { StatusWriter } from './status/status-writer.ts';
import { kubeletMetrics } from './sync/kubelet-metrics.ts';
import type { NodeContext } from './sync/node-context.ts';
import { clientObjectSource, type ObjectSource } from './volumes/object-source.ts';

/** Registrations, leases and node statuses in progress at the same time. */
const NODE_REQUESTS_MAX = 16;
const IMAGE_GC_MS = 300_000;
/** Upstream's bound on the message of an event: it may quote names and output of any length. */
const EVENT_CHARACTERS_MAX = 1_024;

export interface HostedNode {
  readonly identity: Omit<NodeIdentity, 'kubeletVersion' | 'runtimeVersion'>;
  /** Runs the pods that the API binds to this node. */
  readonly runtime: Runtime;
  /** Runs the pods of the manifest folder; `runtime` without it. */
  readonly staticRuntime?: Runtime;
  /** The host's `manifests/` folder. */
  readonly manifests?: string;
  /** Where its kubelet is of another release than the host's. */
  readonly kubernetesVersion?: string;
}

/** The API as one node may use it: with the identity `system:node:<name>`, which the Node authorizer knows. */
export interface NodeApi {
  readonly client: Client;
  /** Of the same client; started when the node is registered. */
  readonly informers: InformerFactory;
}

export interface KubeletHostOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly registry: Registry;
  /** `v1.36.0` */
  readonly kubernetesVersion: string;
  readonly nodes: readonly HostedNode[];
  /** Called once for each node. Absent: static pods alone, as before there is a cluster. */
  readonly api?: (nodeName: string) => NodeApi;
  /** Events of one node: their source names it. */
  readonly events?: (nodeName: string) => EventRecorder;
  readonly clusterDns?: ClusterDns | undefined;
  /** Variables for every container, as KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT. */
  readonly environment?: ReadonlyMap<string, string>;
  /** Variables for the containers of static pods alone: what belongs to the host is nothing for pods of users. */
  readonly staticEnvironment?: ReadonlyMap<string, string>;
}

const noObjects: ObjectSource = {
  configMap: () => Promise.resolve(undefined),
  secret: () => Promise.resolve(undefined),
  services: () => Promise.resolve([]),
  token: () => Promise.reject(new Error('this host has no API server to ask for tokens')),
};

const knownRelease = (version: string): Release => {
  const release = releaseOfVersion(version);
  assert(release !== undefined, `${version} is no version of Kubernetes`);
  return release;
};

const withoutManagedFields = <T extends Pod | Service>(object: T): T => {
  if (object.metadata) delete object.metadata.managedFields;
  return object;
};

/**
 * The kubelets of one process. They share one writer of statuses and one timer. Each node speaks to the API with its own
 * identity, over its own connection and with its own watch of pods: what one node may read or write, another may not.
 */
export class KubeletHost {
  readonly #options: KubeletHostOptions;
  readonly #clock: ReturnType<typeof sharedClock>;
  readonly #nodes = new Map<string, KubeletNode>();
  readonly #folders: ManifestFolder[] = [];
  readonly #writer: StatusWriter | undefined;
  readonly #health = new Map<string, NodeHealth>();
  readonly #shared: Pick<NodeContext, 'clock' | 'log' | 'environment' | 'metrics'>;
  readonly #apis = new Map<string, NodeApi>();
  readonly #watching = new Set<string>();
  #services: Informer<Service> | undefined;
  readonly #versions = new Map<string, string>();
  readonly #gate = gate(NODE_REQUESTS_MAX);
  readonly #bootID = randomUUID();
  #isStopped = false;

  constructor(options: KubeletHostOptions) {
    const { api, log, registry } = options;
    this.#options = options;
    this.#clock = sharedClock(options.clock);
    const clientOf = (nodeName: string): Client | undefined => this.#apis.get(nodeName)?.client;
    this.#writer = api && new StatusWriter({ clientOf, clock: this.#clock, log });
    this.#shared = {
      clock: this.#clock,
      log,
      environment: options.environment ?? new Map(),
      metrics: kubeletMetrics(registry),
    };
    for (const node of options.nodes) this.#add(node);
  }

  node(name: string): KubeletNode | undefined {
    return this.#nodes.get(name);
  }

  get nodes(): readonly KubeletNode[] {
    return [...this.#nodes.values()];
  }

  /** Resolves once static pods were read and begun; everything that needs the API continues in the background. */
  async start(): Promise<void> {
    await Promise.all(this.#folders.map((folder) => folder.start()));
    for (const node of this.#nodes.values()) node.agent?.start();
  }

  /** A node that says it is not ready, and why; undefined makes it healthy again. For rehearsals. */
  async setProblem(nodeName: string, problem: string | undefined): Promise<void> {
    this.#health.set(nodeName, problem === undefined ? {} : { problem });
    await this.#nodes.get(nodeName)?.agent?.reportNow();
  }

  /** As a kubelet that was replaced by one of another release and started again: containers continue. */
  async setVersion(nodeName: string, kubernetesVersion: string): Promise<void> {
    assert(this.#versions.has(nodeName), `${nodeName} is a node of this host`);
    knownRelease(kubernetesVersion);
    this.#versions.set(nodeName, kubernetesVersion);
    await this.#nodes.get(nodeName)?.agent?.reportNow();
  }

  /** Stops every pod within the time and tells the API nothing: the host is down, its pods are not finished. */
  async stop(graceSeconds: number): Promise<void> {
    this.#isStopped = true;
    for (const folder of this.#folders) folder.dispose();
    this.#writer?.dispose();
    await Promise.all([...this.#nodes.values()].map((node) => node.stop(graceSeconds)));
    this.#clock.dispose();
  }

  #add(hosted: HostedNode): void {
    const { log, random, events } = this.#options;
    const { runtime, staticRuntime = runtime, manifests } = hosted;
    const { name } = hosted.identity;
    this.#versions.set(name, hosted.kubernetesVersion ?? this.#options.kubernetesVersion);
    const version = (): string => this.#versions.get(name)!;
    const identity: NodeIdentity = {
      ...hosted.identity,
      get kubeletVersion() {
        return version();
      },
      runtimeVersion: `${runtime.name}://${runtime.version}`,
    };
    const api = this.#options.api?.(name);
    if (api) this.#apis.set(name, api);
    // Not shared between nodes: a Secret that one of them may read is none of another's.
    const objects = api ? clientObjectSource(api.client, this.#clock, this.#servicesOf(api)) : noObjects;
    const recorder = events?.(identity.name) ?? silentEvents;
    const { environment } = this.#shared;
    const contextOf = (of: Runtime, own: Pick<NodeContext, 'objects' | 'environment'>): NodeContext => ({
      ...this.#shared,
      ...own,
      get release() {
        return knownRelease(version());
      },
      get probeUserAgent() {
        return `kube-probe/1.${knownRelease(version()).minor}`;
      },
      nodeName: identity.name,
      hostIP: identity.hostIP,
      clusterDns: this.#options.clusterDns,
      runtime: of,
      allocatable: allocatableOf(identity),
      event: (object, type, reason, message) =>
        recorder.event(object, type, reason, message.slice(0, EVENT_CHARACTERS_MAX)),
    });
    const context = contextOf(runtime, { objects, environment });
    const staticContext = contextOf(staticRuntime, {
      // They start before there is an API server whose Services could be read.
      objects: { ...objects, services: noObjects.services },
      environment: new Map([...environment, ...(this.#options.staticEnvironment ?? [])]),
    });
    const agent =
      api &&
      new NodeAgent({
        identity,
        client: api.client,
        clock: this.#clock,
        random,
        log,
        bootID: this.#bootID,
        gate: this.#gate,
        images: () => runtime.images().catch(() => []),
        health: () => this.#healthOf(identity.name, runtime),
        onRegistered: (registered) => {
          context.event(registered, 'Normal', 'Starting', 'Starting kubelet.');
          this.#watchPods(name, api);
        },
      });
    this.#collectImages(runtime, context);
    const node = new KubeletNode({
      identity,
      context,
      staticContext,
      api: api && { client: api.client, writer: this.#writer!, agent: agent! },
    });
    this.#nodes.set(identity.name, node);
    if (manifests !== undefined) this.#folders.push(this.#folder(node, context, manifests));
  }

  /** As upstream's garbage collector of images: every five minutes, and what it cannot free is told. */
  #collectImages(runtime: Runtime, context: NodeContext): void {
    if (!runtime.collectImages || this.#isStopped) return;
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: context.nodeName, uid: context.nodeName },
    };
    this.#clock.after(IMAGE_GC_MS, () => {
      if (this.#isStopped) return;
      runtime.collectImages!()
        .then(({ wantedBytes, freedBytes }) => {
          if (freedBytes >= wantedBytes) return;
          const message = `Failed to garbage collect required amount of images. Attempted to free ${wantedBytes} bytes, but only found ${freedBytes} bytes eligible to free.`;
          context.event(node, 'Warning', 'FreeDiskSpaceFailed', message);
        })
        .catch((error: unknown) => context.event(node, 'Warning', 'ImageGCFailed', messageOf(error)))
        .finally(() => this.#collectImages(runtime, context));
    });
  }

  async #healthOf(nodeName: string, runtime: Runtime): Promise<NodeHealth> {
    const problem = this.#health.get(nodeName)?.problem ?? (await runtime.problem?.());
    const pressures = this.#nodes.get(nodeName)?.pressures ?? [];
    return { ...(problem !== undefined && { problem }), ...(pressures.length > 0 && { pressures }) };
  }

  #folder(node: KubeletNode, context: NodeContext, folder: string): ManifestFolder {
    const { clock } = this.#options;
    return new ManifestFolder({
      folder,
      nodeName: node.name,
      minor: context.release.minor,
      clock,
      log: context.log,
      onPods: (pods) => node.setStaticPods(pods),
      onProblem: (file, message) => {
        context.log.write('error', 'could not process manifest file', { path: file, error: message });
        const reference = { apiVersion: 'v1', kind: 'Node', metadata: { name: node.name, uid: node.name } };
        context.event(
          reference,
          'Warning',
          'FailedValidation',
          `Could not process manifest file ${file}: ${message}`,
        );
      },
    });
  }

  /** One watch for all nodes of the process: every node may read every Service. */
  #servicesOf({ informers }: NodeApi): ObjectSource['services'] {
    this.#services ??= informers.informer(SERVICE, { transform: withoutManagedFields });
    const services = this.#services;
    return async (namespace) => {
      await services.whenSynced();
      return services.store.inNamespace(namespace);
    };
  }

  /** After the registration, which is bounded: a thousand nodes do not connect in the same moment. */
  #watchPods(nodeName: string, { informers }: NodeApi): void {
    const { log } = this.#options;
    const node = this.#nodes.get(nodeName);
    if (!node || this.#watching.has(nodeName)) return;
    this.#watching.add(nodeName);
    const informer = informers.informer(POD, {
      fieldSelector: `spec.nodeName=${nodeName}`,
      transform: withoutManagedFields,
    });
    informer.addHandler({
      added: (pod) => node.apply(pod),
      updated: (before, after) => {
        if (before.metadata.uid !== after.metadata.uid) node.forget(before);
        node.apply(after);
      },
      deleted: (pod) => node.forget(pod),
    });
    informers.start();
    informer.whenSynced().then(
      () => node.startSweeping(),
      (error: unknown) =>
        log.write('warn', 'the watch of pods ended before it began', {
          node: nodeName,
          error: messageOf(error),
        }),
    );
  }
}

export const createKubeletHost = (options: KubeletHostOptions): KubeletHost => new KubeletHost(options);
