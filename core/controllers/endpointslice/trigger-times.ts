import { formatTime, parseTime } from '../../api/meta/index.ts';
import { readyConditionOf, type Pod, type Service, type Stored } from '../../client/index.ts';

export const TRIGGER_TIME_ANNOTATION = 'endpoints.kubernetes.io/last-change-trigger-time';

interface Seen {
  readonly pods: ReadonlyMap<string, number>;
  readonly serviceMs: number;
}

/** When a pod last became ready or stopped being so. */
const podChangeMs = (pod: Pod): number =>
  parseTime(readyConditionOf(pod)?.lastTransitionTime ?? '') ??
  parseTime(pod.metadata?.creationTimestamp ?? '') ??
  0;

/**
 * What caused the endpoints of a service to change: the oldest change that was not seen before. It is annotated so that
 * the delay until a proxy knows of it can be measured. Bounded by the number of services.
 */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>();

  /** Undefined when nothing that was not known caused this. */
  next(key: string, service: Stored<Service>, pods: readonly Stored<Pod>[]): string | undefined {
    const before = this.#seen.get(key);
    const serviceMs = parseTime(service.metadata.creationTimestamp ?? '') ?? 0;
    const now = new Map(pods.map((pod) => [pod.metadata.name, podChangeMs(pod)]));
    this.#seen.set(key, { pods: now, serviceMs });
    const changes = [...now]
      .filter(([name, atMs]) => atMs > (before?.pods.get(name) ?? -Infinity))
      .map(([, atMs]) => atMs);
    if (!before || serviceMs > before.serviceMs) changes.push(serviceMs);
    // A pod that is only seen by the restarted controller did not change when it was made.
    const floorMs = before ? 0 : serviceMs;
    const oldest = changes.length === 0 ? undefined : Math.max(floorMs, Math.min(...changes));
    return oldest === undefined || oldest === 0 ? undefined : formatTime(oldest);
  }

  forget(key: string): void {
    this.#seen.delete(key);
  }
}
