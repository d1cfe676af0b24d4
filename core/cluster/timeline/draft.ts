import type { Said, Severity, TimelineKind, TimelineLane } from '../../contract/index.ts';

/** An entry before it has a place in the log. */
export interface Draft {
  readonly lane: TimelineLane;
  readonly kind: TimelineKind;
  readonly severity: Severity;
  readonly about: readonly string[];
  readonly text: Said;
  readonly source: string | null;
  /** When it happened, where that is not now. */
  readonly atMs?: number;
  /** It has a duration; `end` of the same key ends it. */
  readonly span?: string;
}

/** Ends the span of that key. What is absent stays as it was drafted. */
export interface SpanEnd {
  readonly end: string;
  readonly severity?: Severity;
  readonly text?: Said;
}

export type Observation = Draft | SpanEnd;
export const isEnd = (observation: Observation): observation is SpanEnd => 'end' in observation;
