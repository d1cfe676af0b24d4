import type { Node, Pod } from '../model/objects.ts';

/** Pods to evict from one node, and how many disruption budgets that breaks. */
export interface Victims {
  readonly pods: readonly Pod[];
  readonly pdbViolationCount: number;
}

export interface ExtenderFilterResult {
  /** Names of the nodes that are left, in any order. */
  readonly nodeNames: readonly string[];
  readonly failed: ReadonlyMap<string, string>;
  readonly failedAndUnresolvable: ReadonlyMap<string, string>;
}

/** A process outside that is asked over HTTP. Every call may fail. */
export interface Extender {
  readonly name: string;
  /** A failing call is as if the extender did not exist. */
  readonly isIgnorable: boolean;
  readonly isFilter: boolean;
  readonly isPrioritizer: boolean;
  readonly isBinder: boolean;
  readonly supportsPreemption: boolean;
  readonly weight: number;
  /** Whether the pod asks for a resource that the extender manages; with none managed, every pod does. */
  isInterested(pod: Pod): boolean;
  filter(pod: Pod, nodes: readonly Node[]): Promise<ExtenderFilterResult>;
  /** Scores of 0 to 10 by node name. */
  prioritize(pod: Pod, nodes: readonly Node[]): Promise<ReadonlyMap<string, number>>;
  bind(pod: Pod, nodeName: string): Promise<void>;
  processPreemption(pod: Pod, victims: ReadonlyMap<string, Victims>): Promise<ReadonlyMap<string, Victims>>;
}

export const EXTENDER_SCORE_MAX = 10;
/** Stands for extenders among the plugins that rejected a pod: any event may change their mind. */
export const EXTENDER_PLUGIN_NAME = 'Extender';
