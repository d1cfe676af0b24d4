import { assert } from '../../base/assert.ts';

/** How a stage left a request: on to the next stage, answered, refused with a Status, or broken by a defect. */
export type StageVerdict = 'passed' | 'answered' | 'refused' | 'failed';

export interface StageRecord {
  readonly stage: string;
  readonly durationMs: number;
  readonly verdict: StageVerdict;
  /** The reason of a refusal. */
  readonly reason?: string;
}

/** A webhook or policy that had a say in a request. Of a patch the operations and paths are kept, never values. */
export interface AdmissionRecord {
  /** `MutatingWebhookConfiguration`, `ValidatingAdmissionPolicy` and so on. */
  readonly kind: string;
  /** Of the configuration or policy. */
  readonly name: string;
  /** Of the webhook in it, or of the binding. */
  readonly part: string;
  readonly outcome: 'changed' | 'denied' | 'warned' | 'failed';
  readonly message?: string;
  /** `replace /spec/replicas` */
  readonly patch?: readonly string[];
}

/** Of one request; what exceeds it is not kept. */
export const ADMISSION_RECORDS_MAX = 16;

/** What is kept of a request that is over: its way through the stages, and nothing of its body. */
export interface RequestTrace {
  readonly auditId: string;
  readonly startedAtMs: number;
  readonly durationMs: number;
  readonly protocol: string;
  readonly method: string;
  readonly path: string;
  readonly verb: string;
  readonly user: string;
  readonly code: number;
  readonly stages: readonly StageRecord[];
  /** Absent where no webhook or policy changed, denied or warned about it. */
  readonly admission?: readonly AdmissionRecord[];
}

export const TRACES_MAX = 512;

/** The latest traces, oldest first. */
export class TraceRing {
  readonly #tracesMax: number;
  readonly #traces: RequestTrace[] = [];
  #next = 0;

  constructor(tracesMax: number = TRACES_MAX) {
    assert(tracesMax > 0, 'a ring of traces holds at least one');
    this.#tracesMax = tracesMax;
  }

  add(trace: RequestTrace): void {
    if (this.#traces.length < this.#tracesMax) this.#traces.push(trace);
    else this.#traces[this.#next] = trace;
    this.#next = (this.#next + 1) % this.#tracesMax;
  }

  list(): readonly RequestTrace[] {
    return this.#traces.length < this.#tracesMax
      ? [...this.#traces]
      : [...this.#traces.slice(this.#next), ...this.#traces.slice(0, this.#next)];
  }

  find(auditId: string): RequestTrace | undefined {
    return this.#traces.find((trace) => trace.auditId === auditId);
  }
}
