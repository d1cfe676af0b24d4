import type { Pod } from '../model/objects.ts';
import type { PodInfo } from '../model/pod-info.ts';
import type { ClusterEventWithHint } from './cluster-event.ts';
import type { CycleState } from './cycle-state.ts';
import type { Diagnosis } from './fit-error.ts';
import type { Status } from './status.ts';

export const SCORE_MAX = 100;

export interface PreFilterResult {
  /** Only these nodes can take the pod; without it, any. */
  readonly nodeNames?: ReadonlySet<string>;
  readonly status?: Status;
}

export interface PostFilterResult {
  /** The node that may take the pod once victims are gone; empty clears an earlier nomination. */
  readonly nominatedNodeName?: string;
  readonly status: Status | undefined;
  /** Joined to the FitError sentence. */
  readonly message?: string;
}

export interface PermitResult {
  readonly status: Status | undefined;
  /** How long a pod that was told to wait may do so. */
  readonly timeoutMs?: number;
}

/** A pod as the queue orders it. */
export interface QueuedPod {
  readonly info: PodInfo;
  /** When it was added to the queue, monotonic. */
  readonly timestampMs: number;
}

/**
 * One plugin of the scheduling framework: a name, and a method for each extension point it takes part in.
 * All but the last four run inside the scheduling cycle, one pod at a time, and must not wait for anything;
 * PostFilter may, since the attempt has failed by then. A node is named by its slot in `cycle.snapshot`.
 */
export interface Plugin {
  readonly name: string;
  /** What may make a pod schedulable that this plugin rejected. Without it, everything may. */
  eventsToRegister?(): readonly ClusterEventWithHint[];
  /** Undefined lets the pod into the active queue. */
  preEnqueue?(pod: Pod): Status | undefined;
  less?(a: QueuedPod, b: QueuedPod): boolean;
  preFilter?(cycle: CycleState, pod: PodInfo): PreFilterResult | undefined;
  /** Keeps the state of preFilter right while pods are added to and taken from nodes on trial. */
  addPod?(cycle: CycleState, pod: PodInfo, added: PodInfo, slot: number): void;
  removePod?(cycle: CycleState, pod: PodInfo, removed: PodInfo, slot: number): void;
  filter?(cycle: CycleState, pod: PodInfo, slot: number): Status | undefined;
  postFilter?(cycle: CycleState, pod: PodInfo, diagnosis: Diagnosis): Promise<PostFilterResult>;
  preScore?(cycle: CycleState, pod: PodInfo, slots: Int32Array): Status | undefined;
  /** Writes the raw score of `slots[i]` to `scores[i]`. */
  score?(cycle: CycleState, pod: PodInfo, slots: Int32Array, scores: Float64Array): Status | undefined;
  /** Brings raw scores to 0..100 in place. */
  normalizeScores?(cycle: CycleState, pod: PodInfo, slots: Int32Array, scores: Float64Array): void;
  reserve?(cycle: CycleState, pod: PodInfo, nodeName: string): Status | undefined;
  /** Undoes reserve; also called when reserve was not, so it must stand that. */
  unreserve?(cycle: CycleState, pod: PodInfo, nodeName: string): void;
  permit?(cycle: CycleState, pod: PodInfo, nodeName: string): PermitResult;
  preBind?(cycle: CycleState, pod: PodInfo, nodeName: string): Promise<Status | undefined>;
  /** Skip leaves the pod to the next bind plugin. */
  bind?(cycle: CycleState, pod: PodInfo, nodeName: string): Promise<Status | undefined>;
  postBind?(cycle: CycleState, pod: PodInfo, nodeName: string): void;
}

/** Upstream's names, in the order a pod meets them; also the labels of metrics. */
export const EXTENSION_POINTS = [
  'PreEnqueue',
  'QueueSort',
  'PreFilter',
  'Filter',
  'PostFilter',
  'PreScore',
  'Score',
  'Reserve',
  'Permit',
  'PreBind',
  'Bind',
  'PostBind',
] as const;
export type ExtensionPoint = (typeof EXTENSION_POINTS)[number];

const METHOD_OF = {
  PreEnqueue: 'preEnqueue',
  QueueSort: 'less',
  PreFilter: 'preFilter',
  Filter: 'filter',
  PostFilter: 'postFilter',
  PreScore: 'preScore',
  Score: 'score',
  Reserve: 'reserve',
  Permit: 'permit',
  PreBind: 'preBind',
  Bind: 'bind',
  PostBind: 'postBind',
} as const satisfies Record<ExtensionPoint, keyof Plugin>;

export type With<Point extends ExtensionPoint> = Plugin & Required<Pick<Plugin, (typeof METHOD_OF)[Point]>>;

export const takesPart = <Point extends ExtensionPoint>(
  plugin: Plugin,
  point: Point,
): plugin is With<Point> => plugin[METHOD_OF[point]] !== undefined;
