import { assert } from '../../base/assert.ts';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { findCondition } from '../../api/meta/conditions.ts';
import { isConflict, isNotFound } from '../../api/meta/status.ts';
import type { V1PodCondition, V1PodStatus } from '../../api/schema/index.ts';
import { POD, type Client, type Pod, type ResourceClient, type Stored } from '../../client/index.ts';
import { isTerminalPhase } from './phase.ts';

/** One pod as the API has it, and what it should be told. */
export interface StatusEntry {
  /** The pod itself, or the mirror of a static one; undefined while the API has none. */
  apiPod: Stored<Pod> | undefined;
  /** Undefined leaves the API as it is. */
  wanted(): V1PodStatus | undefined;
  /** Nothing of it runs any more: a deletion that waits for that can be completed. */
  isGone(): boolean;
  readonly isMirror: boolean;
  /** The API has let it go. */
  onDeleted(): void;
}

/** Changes of one pod that follow each other closely become one write. */
export const STATUS_BATCH_MS = 20;
/** Concurrent writes, for all nodes of the process. */
export const STATUS_WRITES_MAX = 32;
const RETRY_MS = 1_000;
export const RETRY_MS_MAX = 30_000;

type StatusPatch = Record<string, unknown>;

/** Lists that a strategic merge patch would add to: an address that the pod has lost must go. */
const REPLACED = new Set(['podIPs', 'hostIPs']);

/**
 * Conditions are merged by their type: only those that differ are sent, so that what others write meanwhile stays, and a
 * reason that does not hold any more is taken back field by field.
 */
const conditionsPatch = (before: readonly V1PodCondition[], wanted: readonly V1PodCondition[]): unknown[] =>
  wanted.flatMap((condition) => {
    const old = findCondition(before, condition.type);
    if (sameJson(old, condition)) return [];
    const gone = Object.keys(old ?? {}).filter((key) => !(key in condition));
    return [{ ...condition, ...Object.fromEntries(gone.map((key) => [key, null])) }];
  });

const fieldPatch = (field: string, before: V1PodStatus, wanted: V1PodStatus): unknown => {
  if (field === 'conditions') return conditionsPatch(before.conditions ?? [], wanted.conditions ?? []);
  const value = (wanted as Record<string, unknown>)[field];
  return REPLACED.has(field) ? [{ $patch: 'replace' }, ...(value as unknown[])] : value;
};

/** The fields that differ; what is gone is null, as a strategic merge patch needs it. */
export const statusPatch = (
  before: V1PodStatus | undefined,
  wanted: V1PodStatus,
): StatusPatch | undefined => {
  const patch: StatusPatch = {};
  const old = (before ?? {}) as Record<string, unknown>;
  const next = wanted as Record<string, unknown>;
  for (const field of new Set([...Object.keys(old), ...Object.keys(next)])) {
    if (next[field] === undefined) {
      if (OWNED.has(field)) patch[field] = null;
    } else if (!sameJson(old[field], next[field])) patch[field] = fieldPatch(field, before ?? {}, wanted);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
};

/** Other fields (resource claims, the nominated node) are somebody else's and never taken away. */
const OWNED = new Set(['reason', 'message', 'initContainerStatuses', 'ephemeralContainerStatuses']);

/** Equality as the API sees it: the order of keys and absent fields do not count. */
const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a as Record<string, unknown>, b as Record<string, unknown>];
  const keys = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...keys].every((key) => sameJson(left[key] ?? undefined, right[key] ?? undefined));
};

/**
 * Tells the API what became of pods: each pod once however often it changed meanwhile, a bounded number at a time,
 * and again after a failure. Completes the deletion of pods that have stopped.
 */
export class StatusWriter implements Disposable {
  readonly #clientOf: (nodeName: string) => Client | undefined;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #dirty = new Set<StatusEntry>();
  readonly #busy = new Set<StatusEntry>();
  /** How long the last wait of a write was that has failed. */
  readonly #retries = new WeakMap<StatusEntry, number>();
  #timer: Disposable | undefined;
  #isDisposed = false;

  /** `clientOf` a node is the one with that node's identity: it may write the status of its own pods alone. */
  constructor(options: {
    readonly clientOf: (nodeName: string) => Client | undefined;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    this.#clientOf = options.clientOf;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  get pendingCount(): number {
    return this.#dirty.size + this.#busy.size;
  }

  /** Looks at the pod soon. */
  touch(entry: StatusEntry): void {
    if (this.#isDisposed) return;
    this.#dirty.add(entry);
    this.#timer ??= this.#clock.after(STATUS_BATCH_MS, () => this.#flush());
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
    this.#dirty.clear();
  }

  #flush(): void {
    this.#timer = undefined;
    for (const entry of this.#dirty) {
      if (this.#busy.size >= STATUS_WRITES_MAX) return;
      // One write at a time for a pod: the next would be worked out from a status that is about to change.
      if (this.#busy.has(entry)) continue;
      this.#dirty.delete(entry);
      this.#busy.add(entry);
      void this.#write(entry).then((isDone) => {
        this.#busy.delete(entry);
        if (this.#isDisposed) return;
        if (isDone) this.#retries.delete(entry);
        else this.#retryLater(entry);
        if (this.#dirty.size > 0) this.#timer ??= this.#clock.after(0, () => this.#flush());
      });
    }
  }

  /** A write that fails again and again is tried later each time. */
  #retryLater(entry: StatusEntry): void {
    const delayMs = Math.min(RETRY_MS_MAX, (this.#retries.get(entry) ?? RETRY_MS / 2) * 2);
    this.#retries.set(entry, delayMs);
    this.#clock.after(delayMs, () => this.touch(entry));
  }

  /** False when it has to be tried again. */
  async #write(entry: StatusEntry): Promise<boolean> {
    try {
      await this.#patch(entry);
      await this.#complete(entry);
      return true;
    } catch (error) {
      if (isNotFound(error)) {
        entry.apiPod = undefined;
        entry.onDeleted();
        return true;
      }
      if (isConflict(error) && (await this.#isReplaced(entry))) return !entry.isMirror || this.#isDisposed;
      this.#log.write('warn', 'failed to update status for pod', {
        pod: entry.apiPod?.metadata.name,
        error: messageOf(error),
      });
      return this.#isDisposed;
    }
  }

  /**
   * Whether another pod has the name now, which the watch may never show: after a restore the API went back in time. A
   * mirror continues with what it found; any other pod is gone.
   */
  async #isReplaced(entry: StatusEntry): Promise<boolean> {
    const { apiPod } = entry;
    if (!apiPod) return false;
    const { name, uid } = apiPod.metadata;
    try {
      const found = await this.#pods(apiPod).get(name);
      if (found.metadata.uid === uid || entry.apiPod !== apiPod) return false;
      entry.apiPod = entry.isMirror ? found : undefined;
      entry.onDeleted();
      return true;
    } catch (error) {
      this.#log.write('warn', 'failed to read a pod', { pod: name, error: messageOf(error) });
      return false;
    }
  }

  async #patch(entry: StatusEntry): Promise<void> {
    const { apiPod } = entry;
    const wanted = entry.wanted();
    if (!apiPod || !wanted) return;
    const patch = statusPatch(apiPod.status, wanted);
    if (!patch) return;
    const { name, uid } = apiPod.metadata;
    const body = { metadata: { uid }, status: patch };
    const answer = await this.#pods(apiPod).patchStatus(name, { type: 'strategic', body });
    // The informer may have brought something newer meanwhile; then its word stands.
    if (entry.apiPod === apiPod) entry.apiPod = answer;
  }

  async #complete(entry: StatusEntry): Promise<void> {
    const { apiPod } = entry;
    if (!apiPod || entry.isMirror || apiPod.metadata.deletionTimestamp === undefined || !entry.isGone())
      return;
    if (!isTerminalPhase(entry.wanted()?.phase ?? apiPod.status?.phase)) return;
    const { name, uid } = apiPod.metadata;
    await this.#pods(apiPod).delete(name, { gracePeriodSeconds: 0, preconditions: { uid } });
  }

  #pods(pod: Stored<Pod>): ResourceClient<Pod> {
    const client = this.#clientOf(pod.spec?.nodeName ?? '');
    assert(client, `pod ${pod.metadata.name} is on a node of this process`);
    return client.resource(POD, pod.metadata.namespace);
  }
}
