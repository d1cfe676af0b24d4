import type { V1Pod, V1PodStatus } from '../../api/schema/index.ts';
import type { Pod, Stored } from '../../client/index.ts';
import { isTerminalPhase } from '../status/phase.ts';
import type { StatusEntry } from '../status/status-writer.ts';
import type { Amounts } from './pod-requests.ts';
import type { PodWorker } from './pod-worker.ts';

/** A pod of a node: what the API has, what runs of it, and what is left to tell. */
export class PodEntry implements StatusEntry {
  apiPod: Stored<Pod> | undefined;
  worker: PodWorker | undefined;
  /** What a pod that never ran here is told: it was rejected. */
  refused: V1PodStatus | undefined;
  readonly isMirror: boolean;
  /** Counted against the node while the pod is not over. */
  requests: Amounts;
  readonly #onDeleted: (entry: PodEntry) => void;

  constructor(options: {
    readonly apiPod: Stored<Pod> | undefined;
    readonly isMirror: boolean;
    readonly requests: Amounts;
    onDeleted(entry: PodEntry): void;
  }) {
    this.apiPod = options.apiPod;
    this.isMirror = options.isMirror;
    this.requests = options.requests;
    this.#onDeleted = options.onDeleted;
  }

  get pod(): V1Pod {
    return this.worker?.pod ?? this.apiPod!;
  }

  wanted(): V1PodStatus | undefined {
    return this.worker?.status ?? this.refused;
  }

  isGone(): boolean {
    return this.worker === undefined || this.worker.stage === 'terminated';
  }

  /** Whether it takes room on the node. */
  get isActive(): boolean {
    const phase = this.wanted()?.phase ?? this.apiPod?.status?.phase;
    return this.worker !== undefined && !this.isGone() && !isTerminalPhase(phase);
  }

  onDeleted(): void {
    this.#onDeleted(this);
  }
}
