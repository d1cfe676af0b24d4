import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import { formatTime } from '../../api/meta/time.ts';
import { objectKey } from '../../api/meta/object-meta.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { compareResourceVersions, type Client, type Pod, type Stored } from '../../client/index.ts';
import {
  isMirror,
  isMirrorOf,
  reconcileMirror,
  removeMirror,
  type MirrorOutcome,
} from '../static-pods/mirror-pods.ts';
import { isTerminalPhase } from '../status/phase.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { StatusWriter } from '../status/status-writer.ts';
import { isCritical, isTakenUnder } from '../eviction/admission.ts';
import { EvictionManager, type Evictable } from '../eviction/eviction-manager.ts';
import type { Pressure } from '../eviction/pressure.ts';
import { refusal } from '../sync/admission.ts';
import { nextBackOff, type BackOffBounds, type BackOffEntry } from '../containers/back-off.ts';
import type { NodeContext } from '../sync/node-context.ts';
import { PodEntry } from '../sync/pod-entry.ts';
import { podRequests } from '../sync/pod-requests.ts';
import { PodWorker, type PodVerdict } from '../sync/pod-worker.ts';
import type { NodeAgent } from './node-agent.ts';
import type { NodeIdentity } from './node-object.ts';
import { nodeLabels } from './node-object.ts';

/** While the API or the node's registration is missing, mirror pods are tried again in this rhythm. */
const MIRROR_RETRY_MS = 2_000;
/** A mirror that the API refuses is tried again in this rhythm. */
export const MIRROR_BACK_OFF: BackOffBounds = { initialMs: MIRROR_RETRY_MS, maxMs: 120_000 };

/** Rhythm in which the runtime is searched for pods that are gone, and the pause after one has gone. */
const SWEEP_MS = 60_000;
const SWEEP_SOON_MS = 1_000;

const EVICTED = 'Evicted';
/** As upstream where a hard threshold is crossed. */
const EVICTION_GRACE_SECONDS = 1;

export interface KubeletNodeOptions {
  readonly identity: NodeIdentity;
  /** For pods of the API. */
  readonly context: NodeContext;
  /** For pods of the manifest folder; they may run on another runtime. */
  readonly staticContext: NodeContext;
  /** Absent on a host without an API: static pods run all the same. */
  readonly api:
    { readonly client: Client; readonly writer: StatusWriter; readonly agent: NodeAgent } | undefined;
}

/** The pods of one node. Cheap when empty: two maps. */
export class KubeletNode {
  readonly #options: KubeletNodeOptions;
  /** By uid, so that a pod and its successor of the same name stand beside each other. */
  readonly #entries = new Map<string, PodEntry>();
  /** By `namespace/name`. */
  #staticPods: Map<string, V1Pod> | undefined;
  #staticEntries: Map<string, PodEntry> | undefined;
  #mirrorTimer: Disposable | undefined;
  #mirrorBackOff: BackOffEntry | undefined;
  #isMirroring = false;
  #mirrorsAgain = false;
  #isStopped = false;
  #sweepTimer: Disposable | undefined;
  readonly #eviction: EvictionManager | undefined;

  constructor(options: KubeletNodeOptions) {
    this.#options = options;
    const { clock, log, runtime } = options.context;
    if (!runtime.pressure || !options.api) return;
    this.#eviction = new EvictionManager({
      source: runtime.pressure,
      clock,
      log,
      pods: () => this.#evictable(),
      event: (reason, message) => this.#nodeEvent(reason, message),
      onPressure: () => void this.agent?.reportNow(),
    });
    this.#eviction.start();
  }

  get name(): string {
    return this.#options.identity.name;
  }

  get identity(): NodeIdentity {
    return this.#options.identity;
  }

  /** What runs out on its machine. */
  get pressures(): readonly Pressure[] {
    return this.#eviction?.pressures ?? [];
  }

  get agent(): NodeAgent | undefined {
    return this.#options.api?.agent;
  }

  /** Every pod that is known here, static ones included. */
  entries(): PodEntry[] {
    return [...(this.#staticEntries?.values() ?? []), ...this.#entries.values()];
  }

  find(namespace: string, name: string): PodEntry | undefined {
    const key = `${namespace}/${name}`;
    const found = this.entries().filter((entry) => objectKey(entry.pod) === key);
    // A pod that is going away may share its name with the one that follows.
    return found.find((entry) => !entry.isGone()) ?? found.at(-1);
  }

  /** The API has a pod for this node, new or changed. */
  apply(pod: Stored<Pod>): void {
    if (this.#isStopped) return;
    if (isMirror(pod)) return this.#applyMirror(pod);
    const known = this.#entries.get(pod.metadata.uid);
    if (!known) return this.#add(pod);
    const isNewer =
      !known.apiPod ||
      (compareResourceVersions(pod.metadata.resourceVersion, known.apiPod.metadata.resourceVersion) ?? 0) >=
        0;
    if (pod.metadata.generation !== known.apiPod?.metadata.generation) known.requests = podRequests(pod);
    if (isNewer) known.apiPod = pod;
    known.worker?.update(pod);
    this.#options.api?.writer.touch(known);
  }

  /** The API has it no longer. */
  forget(pod: Stored<Pod>): void {
    if (isMirror(pod)) return this.#forgetMirror(pod);
    const entry = this.#entries.get(pod.metadata.uid);
    if (!entry) return;
    entry.apiPod = undefined;
    if (entry.isGone()) this.#remove(pod);
    else entry.worker?.terminate({});
  }

  /** All pods of the manifest folder; what is not among them is stopped. */
  setStaticPods(pods: readonly V1Pod[]): void {
    this.#staticPods = new Map(pods.map((pod) => [objectKey(pod), pod]));
    for (const [key, entry] of this.#staticEntries ?? []) {
      const wanted = this.#staticPods.get(key);
      if (wanted?.metadata?.uid === entry.worker?.uid) continue;
      entry.worker?.terminate({});
      if (!wanted) this.#dropMirror(entry);
    }
    for (const key of this.#staticPods.keys()) this.#startStatic(key);
  }

  /** All pods of the API are known: what the runtime holds of others is removed, now and whenever a pod is gone. */
  startSweeping(): void {
    if (!this.#options.context.runtime.isDurable || this.#sweepTimer) return;
    this.#sweepSoon(0);
  }

  #sweepSoon(delayMs: number): void {
    const { clock, runtime } = this.#options.context;
    if (this.#isStopped || !runtime.isDurable) return;
    this.#sweepTimer?.dispose();
    this.#sweepTimer = clock.after(delayMs, () => {
      void this.#sweep(runtime).finally(() => this.#sweepSoon(SWEEP_MS));
    });
  }

  async #sweep(runtime: Runtime): Promise<void> {
    const { log } = this.#options.context;
    try {
      for (const { uid, namespace, name } of await runtime.heldPods()) {
        const isKnown =
          this.#entries.has(uid) ||
          [...(this.#staticEntries?.values() ?? [])].some(({ worker }) => worker?.uid === uid);
        if (isKnown || this.#isStopped) continue;
        log.write('info', 'removing a pod that the API no longer has', { pod: `${namespace}/${name}`, uid });
        await runtime.removePod(uid).catch((error: unknown) => {
          log.write('warn', 'a pod could not be removed', { uid, error: messageOf(error) });
        });
      }
    } catch (error) {
      log.write('warn', 'pods could not be removed', { error: messageOf(error) });
    }
  }

  /** Ends every pod here, without telling the API: for a host that goes down. Durable ones keep running. */
  async stop(graceSeconds: number): Promise<void> {
    this.#isStopped = true;
    this.#mirrorTimer?.dispose();
    this.#options.api?.agent.dispose();
    this.#sweepTimer?.dispose();
    this.#eviction?.dispose();
    const workers = this.entries().flatMap(({ worker }) => (worker ? [worker] : []));
    await Promise.all(
      workers.map((worker) => {
        if (worker.runtime.isDurable) return worker.abandon();
        worker.terminate({ graceSeconds });
        return worker.whenTerminated();
      }),
    );
  }

  #remove(pod: Stored<Pod>): void {
    this.#entries.delete(pod.metadata.uid);
    if (this.#sweepTimer) this.#sweepSoon(SWEEP_SOON_MS);
  }

  #add(pod: Stored<Pod>): void {
    const entry = new PodEntry({
      apiPod: pod,
      isMirror: false,
      requests: podRequests(pod),
      onDeleted: (gone) => this.forget(gone.apiPod ?? pod),
    });
    this.#entries.set(pod.metadata.uid, entry);
    if (isTerminalPhase(pod.status?.phase)) return this.#options.api?.writer.touch(entry);
    const isGoing = pod.metadata.deletionTimestamp !== undefined;
    const verdict = isGoing ? undefined : this.#refusal(pod);
    if (verdict?.reason === 'NodeAffinity') void this.#admitAfterRefresh(entry, pod);
    else if (verdict) this.#reject(entry, pod, verdict);
    else this.#admit(entry, pod, isGoing);
  }

  #refusal(pod: V1Pod): PodVerdict | undefined {
    const { context, identity, api } = this.#options;
    const { pressures } = this;
    if (!isTakenUnder(pressures, pod))
      return { reason: EVICTED, message: `The node had condition: [${pressures.join(' ')}]. ` };
    return refusal({
      pod,
      nodeName: identity.name,
      labels: api?.agent.node?.metadata.labels ?? nodeLabels(identity),
      allocatable: context.allocatable,
      hasAppArmor: identity.machine?.hasAppArmor,
      usedBy: this.entries()
        .filter((entry) => entry.isActive)
        .map((entry) => entry.requests),
    });
  }

  /** Static pods and critical ones stay whatever happens. */
  #evictable(): readonly Evictable[] {
    const { context } = this.#options;
    return [...this.#entries.values()].flatMap(({ worker, isActive }) => {
      if (!worker || !isActive || isCritical(worker.pod)) return [];
      return [
        {
          pod: worker.pod,
          evict: (message, isDisruption) => {
            context.event(worker.pod, 'Warning', EVICTED, message);
            const verdict = { reason: EVICTED, message, isDisruption };
            worker.terminate({ graceSeconds: EVICTION_GRACE_SECONDS, verdict });
            return worker.whenTerminated();
          },
        },
      ];
    });
  }

  #nodeEvent(reason: string, message: string): void {
    const { name } = this.#options.identity;
    const reference = { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: name } };
    this.#options.context.event(reference, 'Warning', reason, message);
  }

  /** The scheduler may know labels that have not reached us: only the API's word rejects a pod for them. */
  async #admitAfterRefresh(entry: PodEntry, pod: Stored<Pod>): Promise<void> {
    try {
      await this.#options.api?.agent.refresh();
    } catch (error) {
      this.#options.context.log.write('warn', 'could not read the node', { error: messageOf(error) });
    }
    if (this.#isStopped || entry.worker || !this.#entries.has(pod.metadata.uid)) return;
    const verdict = this.#refusal(entry.apiPod ?? pod);
    if (verdict) this.#reject(entry, pod, verdict);
    else this.#admit(entry, entry.apiPod ?? pod, false);
  }

  #reject(entry: PodEntry, pod: Stored<Pod>, verdict: PodVerdict): void {
    const { context, api } = this.#options;
    context.event(pod, 'Warning', verdict.reason, verdict.message);
    context.metrics.admissionRejections.labels(verdict.reason).inc();
    entry.refused = {
      ...pod.status,
      phase: 'Failed',
      reason: verdict.reason,
      message: `Pod was rejected: ${verdict.message}`,
      startTime: formatTime(context.clock.nowMs()),
    };
    api?.writer.touch(entry);
  }

  #admit(entry: PodEntry, pod: Stored<Pod>, isGoing: boolean): void {
    const { context, api } = this.#options;
    entry.worker = new PodWorker({
      context,
      pod,
      isStatic: false,
      usedByOthers: () =>
        this.entries()
          .filter((other) => other !== entry && other.isActive)
          .map(({ requests }) => requests),
      onStatus: () => api?.writer.touch(entry),
      onTerminated: () => {
        if (!entry.apiPod) this.#remove(pod);
        else api?.writer.touch(entry);
      },
    });
    if (isGoing) entry.worker.terminate({});
  }

  #startStatic(key: string): void {
    const { staticContext, api } = this.#options;
    const pod = this.#staticPods?.get(key);
    // A changed manifest waits for the old pod: both would want the same ports and files.
    if (!pod || this.#isStopped || this.#staticEntries?.has(key)) return;
    const entries = (this.#staticEntries ??= new Map());
    const entry = new PodEntry({
      apiPod: undefined,
      isMirror: true,
      requests: podRequests(pod),
      onDeleted: () => this.#reconcileMirrors(),
    });
    entries.set(key, entry);
    entry.worker = new PodWorker({
      context: staticContext,
      pod,
      isStatic: true,
      onStatus: () => api?.writer.touch(entry),
      onTerminated: () => {
        entries.delete(key);
        const successor = this.#staticPods?.get(key);
        if (!successor) return;
        this.#startStatic(key);
        const next = entries.get(key);
        if (next) next.apiPod = entry.apiPod;
        this.#reconcileMirrors();
      },
    });
    this.#reconcileMirrors();
  }

  #applyMirror(pod: Stored<Pod>): void {
    const key = objectKey(pod);
    const entry = this.#staticEntries?.get(key);
    if (!entry) {
      // The manifest is gone for good, not merely not read yet.
      if (this.#staticPods && !this.#staticPods.has(key)) void this.#deleteMirror(pod);
      return;
    }
    entry.apiPod = pod;
    if (pod.metadata.deletionTimestamp !== undefined || !isMirrorOf(pod, entry.pod)) this.#reconcileMirrors();
    else this.#options.api?.writer.touch(entry);
  }

  #forgetMirror(pod: Stored<Pod>): void {
    const entry = this.#staticEntries?.get(objectKey(pod));
    if (!entry || entry.apiPod?.metadata.uid !== pod.metadata.uid) return;
    entry.apiPod = undefined;
    this.#reconcileMirrors();
  }

  #dropMirror(entry: PodEntry): void {
    const mirror = entry.apiPod;
    entry.apiPod = undefined;
    if (mirror) void this.#deleteMirror(mirror);
  }

  async #deleteMirror(mirror: Stored<Pod>): Promise<void> {
    const { api, staticContext } = this.#options;
    if (!api) return;
    try {
      await removeMirror(api.client, mirror);
    } catch (error) {
      staticContext.log.write('warn', 'failed deleting mirror pod', { error: messageOf(error) });
      staticContext.clock.after(MIRROR_RETRY_MS, () => {
        if (!this.#isStopped && !this.#staticPods?.has(objectKey(mirror))) void this.#deleteMirror(mirror);
      });
    }
  }

  /** Soon, and again until every static pod has its mirror; later each time when the API refuses one. */
  #reconcileMirrors(delayMs = 0): void {
    const { api, staticContext } = this.#options;
    if (!api || this.#isStopped) return;
    if (this.#isMirroring) {
      this.#mirrorsAgain = true;
      return;
    }
    this.#mirrorTimer?.dispose();
    this.#mirrorTimer = staticContext.clock.after(delayMs, () => {
      this.#isMirroring = true;
      this.#mirrorsAgain = false;
      void this.#mirrorAll().then((outcome) => this.#mirrored(outcome));
    });
  }

  #mirrored(outcome: MirrorOutcome['outcome']): void {
    const nowMs = this.#options.staticContext.clock.nowMs();
    this.#isMirroring = false;
    if (outcome === 'refused') {
      this.#mirrorBackOff = nextBackOff(this.#mirrorBackOff, MIRROR_BACK_OFF, nowMs, nowMs);
      this.#reconcileMirrors(this.#mirrorBackOff.durationMs);
    } else if (outcome === 'waiting') this.#reconcileMirrors(MIRROR_RETRY_MS);
    else {
      this.#mirrorBackOff = undefined;
      if (this.#mirrorsAgain) this.#reconcileMirrors();
    }
  }

  async #mirrorAll(): Promise<MirrorOutcome['outcome']> {
    const { api, staticContext, identity } = this.#options;
    if (!api) return 'shown';
    const options = {
      client: api.client,
      log: staticContext.log,
      nodeName: identity.name,
      nodeUid: () => api.agent.node?.metadata.uid,
    };
    const outcomes = new Set<MirrorOutcome['outcome']>();
    for (const entry of this.#staticEntries?.values() ?? []) {
      if (!entry.worker || entry.worker.stage !== 'active') continue;
      const result = await reconcileMirror(options, entry.worker.pod, entry.apiPod);
      outcomes.add(result.outcome);
      // The watch may have brought something newer meanwhile; then its word stands.
      if (result.outcome === 'shown' && result.mirror && !entry.apiPod) {
        entry.apiPod = result.mirror;
        api.writer.touch(entry);
      }
    }
    return outcomes.has('refused') ? 'refused' : outcomes.has('waiting') ? 'waiting' : 'shown';
  }
}
