import { referencesOfPod, type PodForGraph } from './pod-references.ts';

/** Kinds that a node may read because a pod on it refers to them. */
export type ReferencedKind = 'secret' | 'configmap' | 'pvc' | 'serviceaccount' | 'resourceclaim';
/** Kinds that name their node themselves. */
export type OwnedKind = 'volumeattachment' | 'resourceslice' | 'podcertificaterequest';
export type GraphKind = ReferencedKind | OwnedKind | 'pod' | 'pv';

export interface ObjectName {
  readonly namespace: string;
  readonly name: string;
}

export interface PersistentVolumeForGraph {
  readonly name: string;
  readonly claim: ObjectName | undefined;
  /** Those that a kubelet needs to mount it. */
  readonly secrets: readonly ObjectName[];
}

const keyOf = (kind: GraphKind, { namespace, name }: ObjectName): string => `${kind}\n${namespace}\n${name}`;

/** Which objects lead to which node: node <- pod <- secret, configmap, claim <- volume <- secret. */
export class NodeGraph {
  /** For each referenced object, how many pods of each node refer to it. */
  readonly #nodesOf = new Map<string, Map<string, number>>();
  readonly #pods = new Map<string, { readonly node: string; readonly references: readonly string[] }>();
  readonly #volumes = new Map<string, { readonly claim: string; readonly secrets: readonly string[] }>();
  readonly #volumesOfSecret = new Map<string, Set<string>>();
  readonly #owners = new Map<string, string>();

  upsertPod(pod: PodForGraph): void {
    const podKey = keyOf('pod', pod);
    this.deletePod(pod);
    if (pod.nodeName === '') return;
    const references = new Set(referencesOfPod(pod).map(({ kind, ...name }) => keyOf(kind, name)));
    references.add(podKey);
    this.#pods.set(podKey, { node: pod.nodeName, references: [...references] });
    for (const reference of references) this.#count(reference, pod.nodeName, 1);
  }

  deletePod(name: ObjectName): void {
    const podKey = keyOf('pod', name);
    const pod = this.#pods.get(podKey);
    if (!pod) return;
    this.#pods.delete(podKey);
    for (const reference of pod.references) this.#count(reference, pod.node, -1);
  }

  upsertVolume(volume: PersistentVolumeForGraph): void {
    this.deleteVolume(volume.name);
    if (!volume.claim) return;
    const secrets = volume.secrets.map((secret) => keyOf('secret', secret));
    this.#volumes.set(volume.name, { claim: keyOf('pvc', volume.claim), secrets });
    for (const secret of secrets) {
      const volumes = this.#volumesOfSecret.get(secret);
      if (volumes) volumes.add(volume.name);
      else this.#volumesOfSecret.set(secret, new Set([volume.name]));
    }
  }

  deleteVolume(name: string): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) {
      const volumes = this.#volumesOfSecret.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOfSecret.delete(secret);
    }
    this.#volumes.delete(name);
  }

  /** An empty node name deletes. */
  setOwner(kind: OwnedKind, name: ObjectName, node: string): void {
    if (node === '') this.#owners.delete(keyOf(kind, name));
    else this.#owners.set(keyOf(kind, name), node);
  }

  leadsTo(node: string, kind: GraphKind, name: ObjectName): boolean {
    const key = keyOf(kind, name);
    if (this.#owners.get(key) === node || this.#nodesOf.get(key)?.has(node)) return true;
    if (kind === 'pv') return this.#volumeLeadsTo(node, name.name);
    if (kind !== 'secret') return false;
    return [...(this.#volumesOfSecret.get(key) ?? [])].some((volume) => this.#volumeLeadsTo(node, volume));
  }

  #volumeLeadsTo(node: string, volume: string): boolean {
    const claim = this.#volumes.get(volume)?.claim;
    return claim !== undefined && (this.#nodesOf.get(claim)?.has(node) ?? false);
  }

  #count(reference: string, node: string, by: number): void {
    let nodes = this.#nodesOf.get(reference);
    if (!nodes) this.#nodesOf.set(reference, (nodes = new Map()));
    const count = (nodes.get(node) ?? 0) + by;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size === 0) this.#nodesOf.delete(reference);
  }
}
