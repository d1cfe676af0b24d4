import type { ClusterEvent } from '../framework/cluster-event.ts';

export interface InFlightEvent {
  readonly event: ClusterEvent;
  readonly before: unknown;
  readonly after: unknown;
}

/** Events kept for pods in their cycle; beyond it the oldest go, and such pods are simply tried again. */
export const IN_FLIGHT_EVENTS_MAX = 10_000;

/**
 * What happened while a pod was being scheduled: the cycle may have seen the state before an event, so the
 * event must be asked about once the pod is found unschedulable.
 */
export class InFlightEvents {
  #events: InFlightEvent[] = [];
  /** The number of the first event kept. */
  #firstNumber = 0;
  /** The number of the next event when each pod was popped. */
  readonly #sinceNumber = new Map<string, number>();

  get podCount(): number {
    return this.#sinceNumber.size;
  }

  has(uid: string): boolean {
    return this.#sinceNumber.has(uid);
  }

  start(uid: string): void {
    this.#sinceNumber.set(uid, this.#firstNumber + this.#events.length);
  }

  record(event: InFlightEvent): void {
    if (this.#sinceNumber.size === 0) return;
    this.#events.push(event);
    if (this.#events.length <= IN_FLIGHT_EVENTS_MAX) return;
    const dropCount = this.#events.length - IN_FLIGHT_EVENTS_MAX / 2;
    this.#events.splice(0, dropCount);
    this.#firstNumber += dropCount;
  }

  /** Undefined when some were lost, or the pod is not in flight. */
  since(uid: string): readonly InFlightEvent[] | undefined {
    const since = this.#sinceNumber.get(uid);
    if (since === undefined || since < this.#firstNumber) return undefined;
    return this.#events.slice(since - this.#firstNumber);
  }

  done(uid: string): void {
    if (!this.#sinceNumber.delete(uid)) return;
    if (this.#sinceNumber.size === 0) {
      this.#firstNumber += this.#events.length;
      this.#events = [];
      return;
    }
    const oldest = Math.min(...this.#sinceNumber.values());
    if (oldest <= this.#firstNumber) return;
    this.#events.splice(0, oldest - this.#firstNumber);
    this.#firstNumber = oldest;
  }
}
