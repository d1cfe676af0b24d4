import { amountOf, CPU, EPHEMERAL_STORAGE, isScalarResource, MEMORY, PODS } from '../model/resources.ts';
import type { Node } from '../model/objects.ts';
import type { PodRequest } from '../model/pod-info.ts';

export interface ScalarColumn {
  allocatable: Float64Array;
  requested: Float64Array;
}

/** Extended resource names kept as columns; a cluster has a handful. */
export const SCALAR_COLUMNS_MAX = 512;

const grown = (array: Float64Array, capacity: number): Float64Array<ArrayBuffer> => {
  const next = new Float64Array(capacity);
  next.set(array);
  return next;
};

/**
 * What is counted on nodes, one typed array per fact and one cell per node slot. The filters and scores of
 * resources read a few cells of each, so a cycle over thousands of nodes stays in the processor's cache.
 * Arrays are replaced when the table grows: take them from here at the start of a cycle.
 */
export class NodeColumns {
  capacity = 0;
  allocatableMilliCpu = new Float64Array(0);
  allocatableMemory = new Float64Array(0);
  allocatableEphemeralStorage = new Float64Array(0);
  allowedPods = new Float64Array(0);
  requestedMilliCpu = new Float64Array(0);
  requestedMemory = new Float64Array(0);
  requestedEphemeralStorage = new Float64Array(0);
  nonZeroMilliCpu = new Float64Array(0);
  nonZeroMemory = new Float64Array(0);
  podCount = new Float64Array(0);
  unschedulable = new Uint8Array(0);
  /** Which of the table's taint sets the node has; 0 is none. */
  taintSet = new Int32Array(0);
  readonly scalars = new Map<string, ScalarColumn>();

  grow(capacity: number): void {
    if (capacity <= this.capacity) return;
    this.capacity = capacity;
    this.allocatableMilliCpu = grown(this.allocatableMilliCpu, capacity);
    this.allocatableMemory = grown(this.allocatableMemory, capacity);
    this.allocatableEphemeralStorage = grown(this.allocatableEphemeralStorage, capacity);
    this.allowedPods = grown(this.allowedPods, capacity);
    this.requestedMilliCpu = grown(this.requestedMilliCpu, capacity);
    this.requestedMemory = grown(this.requestedMemory, capacity);
    this.requestedEphemeralStorage = grown(this.requestedEphemeralStorage, capacity);
    this.nonZeroMilliCpu = grown(this.nonZeroMilliCpu, capacity);
    this.nonZeroMemory = grown(this.nonZeroMemory, capacity);
    this.podCount = grown(this.podCount, capacity);
    const unschedulable = new Uint8Array(capacity);
    unschedulable.set(this.unschedulable);
    this.unschedulable = unschedulable;
    const taintSet = new Int32Array(capacity);
    taintSet.set(this.taintSet);
    this.taintSet = taintSet;
    for (const column of this.scalars.values()) {
      column.allocatable = grown(column.allocatable, capacity);
      column.requested = grown(column.requested, capacity);
    }
  }

  scalar(name: string): ScalarColumn | undefined {
    let column = this.scalars.get(name);
    if (!column) {
      if (this.scalars.size >= SCALAR_COLUMNS_MAX) return undefined;
      column = {
        allocatable: new Float64Array(this.capacity),
        requested: new Float64Array(this.capacity),
      };
      this.scalars.set(name, column);
    }
    return column;
  }

  setNode(slot: number, node: Node, taintSet: number): void {
    const allocatable = node.status?.allocatable ?? {};
    this.allocatableMilliCpu[slot] = amountOf(CPU, allocatable[CPU]);
    this.allocatableMemory[slot] = amountOf(MEMORY, allocatable[MEMORY]);
    this.allocatableEphemeralStorage[slot] = amountOf(EPHEMERAL_STORAGE, allocatable[EPHEMERAL_STORAGE]);
    this.allowedPods[slot] = amountOf(PODS, allocatable[PODS]);
    this.unschedulable[slot] = node.spec?.unschedulable ? 1 : 0;
    this.taintSet[slot] = taintSet;
    for (const column of this.scalars.values()) column.allocatable[slot] = 0;
    for (const name in allocatable) {
      const column = isScalarResource(name) ? this.scalar(name) : undefined;
      if (column) column.allocatable[slot] = amountOf(name, allocatable[name]);
    }
  }

  clear(slot: number): void {
    this.setNode(slot, { metadata: {} }, 0);
    this.requestedMilliCpu[slot] = 0;
    this.requestedMemory[slot] = 0;
    this.requestedEphemeralStorage[slot] = 0;
    this.nonZeroMilliCpu[slot] = 0;
    this.nonZeroMemory[slot] = 0;
    this.podCount[slot] = 0;
    for (const column of this.scalars.values()) column.requested[slot] = 0;
  }

  /** `sign` is 1 for a pod that comes and -1 for one that goes; sums are exact, so both cancel out. */
  addRequest(slot: number, request: PodRequest, sign: 1 | -1): void {
    this.requestedMilliCpu[slot]! += sign * request.milliCpu;
    this.requestedMemory[slot]! += sign * request.memory;
    this.requestedEphemeralStorage[slot]! += sign * request.ephemeralStorage;
    this.nonZeroMilliCpu[slot]! += sign * request.nonZeroMilliCpu;
    this.nonZeroMemory[slot]! += sign * request.nonZeroMemory;
    this.podCount[slot]! += sign;
    for (const [name, amount] of request.scalars) {
      const column = this.scalar(name);
      if (column) column.requested[slot]! += sign * amount;
    }
  }
}
