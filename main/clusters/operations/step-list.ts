import type { Clock } from '../../../core/base/clock.ts';
import { verbatim, type OperationStep, type Said } from '../../../core/contract/index.ts';

const STEPS_MAX = 256;
const DETAIL_CHARACTERS_MAX = 2_000;

type Step = { -readonly [K in keyof OperationStep]: OperationStep[K] };

/** What another program said may be of any length. */
const bounded = ({ code, values }: Said): Said => ({
  code,
  values: Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.slice(0, DETAIL_CHARACTERS_MAX) : value,
    ]),
  ),
});

/** The steps of one operation, in the order in which they are planned. */
export class StepList {
  readonly #clock: Clock;
  #steps: Step[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  view(): OperationStep[] {
    return this.#steps.map((step) => ({ ...step }));
  }

  /** What was begun before keeps its state. */
  plan(planned: readonly { readonly id: string; readonly title: Said }[]): void {
    const known = new Map(this.#steps.map((step) => [step.id, step]));
    const next = planned.slice(0, STEPS_MAX).map(({ id, title }) => {
      const before = known.get(id);
      known.delete(id);
      return before ? { ...before, title } : this.#waiting(id, title);
    });
    const dropped = [...known.values()].filter(({ state }) => state !== 'waiting');
    this.#steps = [...dropped, ...next];
  }

  begin(id: string): void {
    const step = this.#step(id);
    step.state = 'running';
    step.startedAtMs = this.#clock.nowMs();
  }

  detail(id: string, detail: Said | null): void {
    this.#step(id).detail = detail && bounded(detail);
  }

  end(id: string, detail?: Said): void {
    const step = this.#step(id);
    step.startedAtMs ??= this.#clock.nowMs();
    this.#close(step, 'done', detail);
  }

  /** The operation is over and went well: what was not needed was skipped. */
  finish(): void {
    for (const step of this.#steps) {
      if (step.state === 'running') this.#close(step, 'done');
      else if (step.state === 'waiting') step.state = 'skipped';
    }
  }

  fail(why: Said): void {
    for (const step of this.#steps) {
      if (step.state === 'running') this.#close(step, 'failed', why);
      else if (step.state === 'waiting') step.state = 'skipped';
    }
  }

  #close(step: Step, state: Step['state'], detail?: Said): void {
    step.state = state;
    step.endedAtMs = this.#clock.nowMs();
    if (detail !== undefined) step.detail = bounded(detail);
  }

  #waiting(id: string, title: Said): Step {
    return { id, title, state: 'waiting', detail: null, startedAtMs: null, endedAtMs: null };
  }

  /** A step that no one planned is shown all the same. */
  #step(id: string): Step {
    const found = this.#steps.find((step) => step.id === id);
    if (found) return found;
    const step = this.#waiting(id, verbatim(id));
    if (this.#steps.length < STEPS_MAX) this.#steps.push(step);
    return step;
  }
}
