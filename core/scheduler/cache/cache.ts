import { ReasonError } from '../../base/errors.ts';
import type { Clock } from '../../base/clock.ts';
import type { Node, Pod } from '../model/objects.ts';
import { podInfoOf, type PodInfo } from '../model/pod-info.ts';
import type { Snapshot } from './snapshot.ts';

export type CacheFailure = 'AlreadyKnown' | 'NotAssumed' | 'NotFound';

interface CachedNode {
  /** Undefined while pods are known on a node that is not, or not any more. */
  node: Node | undefined;
  readonly pods: Map<string, PodInfo>;
}

interface PodState {
  info: PodInfo;
  nodeName: string;
  assumed: boolean;
  /** Monotonic; set when binding is done and assumed pods expire. */
  deadlineMs: number | undefined;
}

export interface CacheOptions {
  readonly clock: Clock;
  /**
   * How long an assumed pod whose binding is done may wait for the watch to tell of it; 0 is for ever, as
   * upstream: a pod forgotten too early is room sold twice.
   */
  readonly assumedPodTtlMs?: number;
}

/**
 * What the informers and the scheduler's own assumptions say about nodes and the pods on them. Changed nodes
 * are remembered, and `updateSnapshot` copies only those.
 */
export class SchedulerCache {
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #nodes = new Map<string, CachedNode>();
  readonly #pods = new Map<string, PodState>();
  readonly #changed = new Set<string>();

  constructor({ clock, assumedPodTtlMs = 0 }: CacheOptions) {
    this.#clock = clock;
    this.#ttlMs = assumedPodTtlMs;
  }

  get podCount(): number {
    return this.#pods.size;
  }

  get nodeCount(): number {
    let count = 0;
    for (const { node } of this.#nodes.values()) if (node) count += 1;
    return count;
  }

  get assumedPodCount(): number {
    let count = 0;
    for (const state of this.#pods.values()) if (state.assumed) count += 1;
    return count;
  }

  /** Counts the pod on the node before the API server knows. */
  assumePod(info: PodInfo, nodeName: string): void {
    if (this.#pods.has(info.uid))
      throw new ReasonError<CacheFailure>(
        'AlreadyKnown',
        `pod ${info.key} is in the cache, so can't be assumed`,
      );
    this.#put(info, nodeName, true);
  }

  finishBinding(uid: string): void {
    const state = this.#pods.get(uid);
    if (state?.assumed && this.#ttlMs > 0) state.deadlineMs = this.#clock.monotonicMs() + this.#ttlMs;
  }

  /** Takes an assumption back; a pod that the API server confirmed stays. */
  forgetPod(uid: string): void {
    const state = this.#pods.get(uid);
    if (!state) return;
    if (!state.assumed)
      throw new ReasonError<CacheFailure>(
        'NotAssumed',
        `pod ${state.info.key} was added to the cache, so it can't be forgotten`,
      );
    this.#drop(state);
  }

  isAssumed(uid: string): boolean {
    return this.#pods.get(uid)?.assumed ?? false;
  }

  getPod(uid: string): PodInfo | undefined {
    return this.#pods.get(uid)?.info;
  }

  nodeNameOf(uid: string): string | undefined {
    return this.#pods.get(uid)?.nodeName;
  }

  getNode(name: string): Node | undefined {
    return this.#nodes.get(name)?.node;
  }

  /** The watch tells of a pod on a node, new or changed: it wins over any assumption. */
  setPod(pod: Pod): void {
    const nodeName = pod.spec.nodeName;
    const uid = pod.metadata.uid ?? '';
    const before = this.#pods.get(uid);
    if (before?.info.pod === pod && before.nodeName === nodeName && !before.assumed) return;
    if (before) this.#drop(before);
    if (nodeName) this.#put(podInfoOf(pod), nodeName, false);
  }

  removePod(uid: string): void {
    const state = this.#pods.get(uid);
    if (state) this.#drop(state);
  }

  setNode(node: Node): void {
    const name = node.metadata.name ?? '';
    this.#nodeNamed(name).node = node;
    this.#changed.add(name);
  }

  removeNode(name: string): void {
    const cached = this.#nodes.get(name);
    if (!cached) return;
    cached.node = undefined;
    if (cached.pods.size === 0) this.#nodes.delete(name);
    this.#changed.add(name);
  }

  /** Assumed pods whose binding is done and of which no watch event told in time. */
  expireAssumedPods(): readonly PodInfo[] {
    const now = this.#clock.monotonicMs();
    const expired: PodInfo[] = [];
    for (const state of this.#pods.values())
      if (state.assumed && state.deadlineMs !== undefined && state.deadlineMs <= now) {
        this.#drop(state);
        expired.push(state.info);
      }
    return expired;
  }

  updateSnapshot(snapshot: Snapshot): void {
    for (const name of this.#changed) {
      const cached = this.#nodes.get(name);
      if (cached?.node) snapshot.applyNode(cached.node, cached.pods);
      else snapshot.removeNode(name);
    }
    this.#changed.clear();
  }

  #nodeNamed(name: string): CachedNode {
    let cached = this.#nodes.get(name);
    if (!cached) this.#nodes.set(name, (cached = { node: undefined, pods: new Map() }));
    return cached;
  }

  #put(info: PodInfo, nodeName: string, assumed: boolean): void {
    this.#pods.set(info.uid, { info, nodeName, assumed, deadlineMs: undefined });
    this.#nodeNamed(nodeName).pods.set(info.uid, info);
    this.#changed.add(nodeName);
  }

  #drop({ info, nodeName }: PodState): void {
    this.#pods.delete(info.uid);
    const cached = this.#nodes.get(nodeName);
    cached?.pods.delete(info.uid);
    if (cached?.pods.size === 0 && !cached.node) this.#nodes.delete(nodeName);
    this.#changed.add(nodeName);
  }
}
