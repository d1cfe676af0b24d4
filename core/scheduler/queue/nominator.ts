import type { Nominations } from '../framework/handle.ts';
import type { PodInfo } from '../model/pod-info.ts';

const NONE: readonly PodInfo[] = [];

/** Which pods were promised room on which node, from their status or from our own preemption. */
export class Nominator implements Nominations {
  readonly #byNode = new Map<string, Map<string, PodInfo>>();
  readonly #nodeOf = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#nodeOf.size === 0;
  }

  podsOn(nodeName: string): readonly PodInfo[] {
    const pods = this.#byNode.get(nodeName);
    return pods ? [...pods.values()] : NONE;
  }

  nodeOf(uid: string): string | undefined {
    return this.#nodeOf.get(uid);
  }

  /** An empty or missing name takes what the pod's status says. */
  set(info: PodInfo, nodeName = info.pod.status?.nominatedNodeName): void {
    this.delete(info.uid);
    if (!nodeName) return;
    let pods = this.#byNode.get(nodeName);
    if (!pods) this.#byNode.set(nodeName, (pods = new Map()));
    pods.set(info.uid, info);
    this.#nodeOf.set(info.uid, nodeName);
  }

  delete(uid: string): void {
    const nodeName = this.#nodeOf.get(uid);
    if (nodeName === undefined) return;
    this.#nodeOf.delete(uid);
    const pods = this.#byNode.get(nodeName);
    pods?.delete(uid);
    if (pods?.size === 0) this.#byNode.delete(nodeName);
  }

  /** A status that says nothing must not undo a nomination that is still on its way to the server. */
  update(info: PodInfo): void {
    this.set(info, info.pod.status?.nominatedNodeName || this.#nodeOf.get(info.uid));
  }
}
