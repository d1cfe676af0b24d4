import { assert } from '../../base/assert.ts';
import type { Node } from '../model/objects.ts';
import type { PodInfo } from '../model/pod-info.ts';
import { HostPorts } from './host-ports.ts';
import { LabelColumns } from './label-columns.ts';
import { NodeColumns } from './node-columns.ts';
import { NodeOrder, zoneOf } from './node-order.ts';
import { PodShapes } from './pod-shapes.ts';
import { TaintSets } from './taint-sets.ts';

/** One node of the snapshot, by its slot in the columns. */
export interface NodeEntry {
  node: Node;
  readonly name: string;
  readonly pods: Map<string, PodInfo>;
  readonly hostPorts: HostPorts;
}

export interface ImageState {
  readonly sizeBytes: number;
  readonly slots: Set<number>;
}

const CAPACITY_START = 64;

/**
 * The cluster as one scheduling cycle sees it. It changes only between cycles (`applyNode`, `removeNode`) and,
 * within one, by `addPod` and `removePod`, with which a filter asks "what if" and then takes it back: counts
 * are exact integers, so that what is taken back leaves no trace.
 */
export class Snapshot {
  readonly columns = new NodeColumns();
  readonly labels: LabelColumns;
  readonly shapes = new PodShapes();
  readonly taintSets = new TaintSets();
  readonly images = new Map<string, ImageState>();
  /** How many pods use a claim, `namespace/name`. */
  readonly claimUses = new Map<string, number>();
  readonly #entries: (NodeEntry | undefined)[] = [];
  readonly #slotOf = new Map<string, number>();
  readonly #free: number[] = [];
  readonly #order = new NodeOrder();
  #list: Int32Array | undefined;
  #podCount = 0;

  constructor() {
    this.labels = new LabelColumns((slot) => this.#entries[slot]?.node.metadata.labels);
  }

  get nodeCount(): number {
    return this.#slotOf.size;
  }

  get podCount(): number {
    return this.#podCount;
  }

  /** Slots in the order in which nodes are tried. */
  get order(): Int32Array {
    return (this.#list ??= this.#order.list());
  }

  /** A table indexed by slot needs this length. */
  get slotBound(): number {
    return this.columns.capacity;
  }

  slotOf(name: string): number | undefined {
    return this.#slotOf.get(name);
  }

  entry(slot: number): NodeEntry {
    const entry = this.#entries[slot];
    assert(entry, 'a slot of the snapshot holds a node');
    return entry;
  }

  /** Brings one node and its pods to what the cache holds. */
  applyNode(node: Node, pods: ReadonlyMap<string, PodInfo>): void {
    const name = node.metadata.name ?? '';
    let slot = this.#slotOf.get(name);
    if (slot === undefined) {
      slot = this.#allocate(name, node);
      this.#setNode(slot, this.entry(slot), node);
    }
    const entry = this.entry(slot);
    if (entry.node !== node) {
      this.#forgetImages(slot, entry.node);
      this.#setNode(slot, entry, node);
    }
    for (const [uid, info] of entry.pods) if (pods.get(uid) !== info) this.removePod(slot, info);
    for (const [uid, info] of pods) if (!entry.pods.has(uid)) this.addPod(slot, info);
  }

  removeNode(name: string): void {
    const slot = this.#slotOf.get(name);
    if (slot === undefined) return;
    const entry = this.entry(slot);
    for (const info of entry.pods.values()) this.removePod(slot, info);
    this.#forgetImages(slot, entry.node);
    this.#slotOf.delete(name);
    this.#order.remove(slot);
    this.#list = undefined;
    this.#entries[slot] = undefined;
    this.columns.clear(slot);
    this.labels.setNode(slot, undefined);
    this.#free.push(slot);
  }

  addPod(slot: number, info: PodInfo): void {
    const entry = this.entry(slot);
    entry.pods.set(info.uid, info);
    this.#podCount += 1;
    this.columns.addRequest(slot, info.request, 1);
    this.shapes.add(info, slot);
    for (const port of info.hostPorts) entry.hostPorts.add(port);
    for (const claim of info.claims) this.claimUses.set(claim, (this.claimUses.get(claim) ?? 0) + 1);
  }

  removePod(slot: number, info: PodInfo): void {
    const entry = this.entry(slot);
    assert(entry.pods.get(info.uid) === info, 'only a pod that the node holds is removed from it');
    entry.pods.delete(info.uid);
    this.#podCount -= 1;
    this.columns.addRequest(slot, info.request, -1);
    this.shapes.remove(info, slot);
    for (const port of info.hostPorts) entry.hostPorts.remove(port);
    for (const claim of info.claims) {
      const uses = this.claimUses.get(claim) ?? 0;
      if (uses > 1) this.claimUses.set(claim, uses - 1);
      else this.claimUses.delete(claim);
    }
  }

  #allocate(name: string, node: Node): number {
    const slot = this.#free.pop() ?? this.#entries.length;
    if (slot >= this.columns.capacity) {
      const capacity = Math.max(CAPACITY_START, this.columns.capacity * 2);
      this.columns.grow(capacity);
      this.labels.grow(capacity);
    }
    this.#entries[slot] = { node, name, pods: new Map(), hostPorts: new HostPorts() };
    this.#slotOf.set(name, slot);
    return slot;
  }

  #setNode(slot: number, entry: NodeEntry, node: Node): void {
    entry.node = node;
    if (this.taintSets.isFull) this.#compactTaintSets();
    this.columns.setNode(slot, node, this.taintSets.intern(node.spec?.taints));
    this.labels.setNode(slot, node.metadata.labels);
    for (const image of node.status?.images ?? [])
      for (const name of image.names ?? []) {
        let state = this.images.get(name);
        if (!state) this.images.set(name, (state = { sizeBytes: image.sizeBytes ?? 0, slots: new Set() }));
        state.slots.add(slot);
      }
    const zone = zoneOf(node);
    if (this.#order.zone(slot) === zone) return;
    this.#order.remove(slot);
    this.#order.add(slot, zone);
    this.#list = undefined;
  }

  #forgetImages(slot: number, node: Node): void {
    for (const image of node.status?.images ?? [])
      for (const name of image.names ?? []) {
        const state = this.images.get(name);
        state?.slots.delete(slot);
        if (state?.slots.size === 0) this.images.delete(name);
      }
  }

  #compactTaintSets(): void {
    this.taintSets.clear();
    for (const [at, entry] of this.#entries.entries())
      if (entry) this.columns.taintSet[at] = this.taintSets.intern(entry.node.spec?.taints);
  }
}
