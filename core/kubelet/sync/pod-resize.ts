import { messageOf } from '../../base/errors.ts';
import { quantityFrom } from '../../api/quantity/index.ts';
import type { V1Container, V1Pod, V1PodCondition, V1ResourceRequirements } from '../../api/schema/index.ts';
import { isRunning, type ContainerRecord } from '../containers/container-record.ts';
import type { NodeContext } from './node-context.ts';
import { lacking } from './admission.ts';
import type { Amounts } from './pod-requests.ts';

const RESIZED = ['cpu', 'memory'] as const;
/** A resize that did not work is tried again after so long. */
const RETRY_MS = 10_000;

export type ResizeCondition = Pick<V1PodCondition, 'type' | 'status' | 'reason' | 'message'>;

const amountOf = (resources: V1ResourceRequirements | undefined, list: 'limits' | 'requests', name: string) =>
  quantityFrom(resources?.[list]?.[name]).nanos;

/** Whether the new specification asks for other resources. */
export const isResized = (before: V1Container, next: V1Container): boolean =>
  (before.resources ?? next.resources) !== undefined &&
  changedBetween(before.resources, next.resources).length > 0;

/** Which of cpu and memory differ. */
const changedBetween = (
  a: V1ResourceRequirements | undefined,
  b: V1ResourceRequirements | undefined,
): readonly string[] =>
  RESIZED.filter((name) =>
    (['limits', 'requests'] as const).some((list) => amountOf(a, list, name) !== amountOf(b, list, name)),
  );

const summaryOf = (pod: V1Pod, error?: string): string => {
  const named = (containers: readonly V1Container[] | undefined) =>
    containers?.map(({ name, resources = {} }) => ({ name, resources }));
  return JSON.stringify({
    initContainers: named(pod.spec?.initContainers),
    containers: named(pod.spec?.containers),
    generation: pod.metadata?.generation ?? 0,
    error,
  });
};

export interface PodResizeOptions {
  readonly context: NodeContext;
  pod(): V1Pod;
  /** What other pods of the node ask for. */
  usedByOthers(): readonly Amounts[];
  /** A resource whose policy asks for it has changed. */
  restart(record: ContainerRecord, message: string): void;
  /** Look again now, or at this time. */
  wake(atMs?: number): void;
}

/** Brings running containers to the resources of their pod, without a restart where their policies allow it. */
export class PodResize {
  readonly #options: PodResizeOptions;
  #pending: ResizeCondition | undefined;
  #progress: ResizeCondition | undefined;
  /** Containers as their pod wants them and the node cannot give. */
  readonly #wanted = new Map<ContainerRecord, V1Container>();
  #retryAtMs = 0;
  #isAtWork = false;

  constructor(options: PodResizeOptions) {
    this.#options = options;
  }

  get conditions(): readonly ResizeCondition[] {
    return [this.#pending, this.#progress].filter((condition) => condition !== undefined);
  }

  /** The container as it may run: what the node cannot give is not allocated, and asked for again later. */
  admit(pod: V1Pod, record: ContainerRecord, next: V1Container): V1Container {
    const { context, usedByOthers } = this.#options;
    const verdict = lacking({ pod, allocatable: context.allocatable, usedBy: usedByOthers() });
    if (verdict === undefined) {
      this.#pending = undefined;
      this.#wanted.delete(record);
      return next;
    }
    const { reason, message } = verdict;
    if (this.#pending?.message !== message)
      context.event(pod, 'Warning', 'ResizeDeferred', `Pod resize ${reason}: ${summaryOf(pod, message)}`);
    this.#pending = { type: 'PodResizePending', status: 'True', reason, message };
    this.#wanted.set(record, next);
    this.#retryAtMs = context.clock.nowMs() + RETRY_MS;
    const { resources } = record.spec;
    return { ...next, ...(resources && { resources }) };
  }

  /** Others may have left since. */
  #readmit(): void {
    const { context, pod, wake } = this.#options;
    if (this.#wanted.size === 0) return;
    if (context.clock.nowMs() < this.#retryAtMs) return wake(this.#retryAtMs);
    for (const [record, next] of this.#wanted) record.spec = this.admit(pod(), record, next);
    if (this.#wanted.size > 0) wake(this.#retryAtMs);
  }

  /** One container at a time. */
  turn(records: readonly ContainerRecord[]): void {
    if (this.#isAtWork) return;
    this.#readmit();
    const { context, pod, restart, wake } = this.#options;
    for (const record of records) {
      if (record.kind === 'ephemeral' || !isRunning(record) || record.isStopping) continue;
      const changed = changedBetween(record.applied, record.spec.resources);
      if (changed.length === 0) continue;
      const needsRestart = record.spec.resizePolicy?.some(
        ({ resourceName, restartPolicy }) =>
          restartPolicy === 'RestartContainer' && changed.includes(resourceName),
      );
      if (needsRestart) {
        restart(record, `Container ${record.spec.name} resize requires restart`);
        continue;
      }
      const nowMs = context.clock.nowMs();
      if (nowMs < this.#retryAtMs) return wake(this.#retryAtMs);
      this.#isAtWork = true;
      if (!this.#progress)
        context.event(pod(), 'Normal', 'ResizeStarted', `Pod resize started: ${summaryOf(pod())}`);
      this.#progress = { type: 'PodResizeInProgress', status: 'True' };
      void this.#apply(record);
      return;
    }
  }

  async #apply(record: ContainerRecord): Promise<void> {
    const { context, pod, wake } = this.#options;
    const { spec } = record;
    try {
      await record.current?.container.resize(pod(), spec);
      record.applied = spec.resources;
      this.#progress = undefined;
      context.event(pod(), 'Normal', 'ResizeCompleted', `Pod resize completed: ${summaryOf(pod())}`);
    } catch (error) {
      const message = messageOf(error);
      this.#progress = { type: 'PodResizeInProgress', status: 'True', reason: 'Error', message };
      this.#retryAtMs = context.clock.nowMs() + RETRY_MS;
      context.event(pod(), 'Warning', 'ResizeError', `Pod resize error: ${summaryOf(pod(), message)}`);
    } finally {
      this.#isAtWork = false;
      wake();
    }
  }
}
