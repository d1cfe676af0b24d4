import type { Clock } from '../../../core/base/clock.ts';
import type { OperationStep } from '../../../core/contract/index.ts';

const STEPS_MAX = 256;
const DETAIL_CHARACTERS_MAX = 2_000;

type Step = { -readonly [K in keyof OperationStep]: OperationStep[K] };

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
  plan(planned: readonly { readonly id: string; readonly title: string }[]): void {
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

  detail(id: string, text: string): void {
    this.#step(id).detail = text.slice(0, DETAIL_CHARACTERS_MAX);
  }

  end(id: string, detail?: string): void {
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

  fail(why: string): void {
    for (const step of this.#steps) {
      if (step.state === 'running') this.#close(step, 'failed', why);
      else if (step.state === 'waiting') step.state = 'skipped';
    }
  }

  #close(step: Step, state: Step['state'], detail?: string): void {
    step.state = state;
    step.endedAtMs = this.#clock.nowMs();
    if (detail !== undefined) step.detail = detail.slice(0, DETAIL_CHARACTERS_MAX);
  }

  #waiting(id: string, title: string): Step {
    return { id, title, state: 'waiting', detail: '', startedAtMs: null, endedAtMs: null };
  }

  /** A step that nobody planned is shown all the same. */
  #step(id: string): Step {
    const found = this.#steps.find((step) => step.id === id);
    if (found) return found;
    const step = this.#waiting(id, id);
    if (this.#steps.length < STEPS_MAX) this.#steps.push(step);
    return step;
  }
}
