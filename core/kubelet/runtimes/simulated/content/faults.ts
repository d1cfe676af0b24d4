import type { Clock } from '../../../../base/clock.ts';
import { RuntimeError } from '../../runtime.ts';
import type { ContainerFacts } from './messages.ts';

/** The thread is started again after so long, twice as long after each fault. */
export const FAULT_BACK_OFF_MS_MIN = 1_000;
export const FAULT_BACK_OFF_MS_MAX = 60_000;
/** After so long without a fault the next one counts as the first. */
export const FAULT_FORGET_MS = 600_000;
/** A container that was at work at so many faults is not started again. */
export const CONTAINER_FAULTS_MAX = 3;
const CULPRITS_MAX = 1_024;

const keyOf = ({ podUid, containerName }: ContainerFacts): string => `${podUid}/${containerName}`;

/** What is remembered of threads that have ended: when the next may start, and which containers to keep out of it. */
export class Faults {
  readonly #clock: Clock;
  readonly #culprits = new Map<string, number>();
  #backOffMs = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  record(culprit: ContainerFacts | undefined): void {
    const nowMs = this.#clock.monotonicMs();
    const isFirst = nowMs - this.#lastMs > FAULT_FORGET_MS;
    this.#backOffMs = isFirst ? FAULT_BACK_OFF_MS_MIN : Math.min(FAULT_BACK_OFF_MS_MAX, this.#backOffMs * 2);
    this.#lastMs = nowMs;
    if (!culprit) return;
    const key = keyOf(culprit);
    const count = (this.#culprits.get(key) ?? 0) + 1;
    this.#culprits.delete(key);
    this.#culprits.set(key, count);
    if (this.#culprits.size > CULPRITS_MAX) this.#culprits.delete(this.#culprits.keys().next().value!);
  }

  /** RuntimeError `RunContainerError` for a container that has ended the thread too often. */
  check(facts: ContainerFacts): void {
    if ((this.#culprits.get(keyOf(facts)) ?? 0) < CONTAINER_FAULTS_MAX) return;
    throw new RuntimeError(
      'RunContainerError',
      `container ${facts.containerName} ended the thread of simulated containers ${CONTAINER_FAULTS_MAX} times; it is not started again, delete the pod`,
    );
  }

  /** Resolves when the next thread may start. */
  async backOff(): Promise<void> {
    const waitMs = this.#lastMs + this.#backOffMs - this.#clock.monotonicMs();
    if (waitMs > 0) await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve));
  }
}
