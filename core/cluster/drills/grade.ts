import {
  say,
  verbatim,
  type AuditEventView,
  type DrillGrade,
  type DrillStoryLine,
  type TimelineEntry,
} from '../../contract/index.ts';

const FULL_SCORE = 100;
const PER_HINT = 10;
const PER_STEP = 5;
/** Time alone, or steps alone, never cost more. */
const PART_MAX = 30;
/** From par to three times par the time costs more and more. */
const SLOW_FACTOR = 2;

export interface Performance {
  readonly seconds: number;
  readonly parSeconds: number;
  readonly steps: number;
  readonly parSteps: number;
  readonly hints: number;
  readonly isScripted: boolean;
}

/** 100 within par without hints; late, roundabout and hinted repairs score less, a repair never less than 10. */
export const gradeOf = (performance: Performance): DrillGrade => {
  const { seconds, parSeconds, steps, parSteps, hints } = performance;
  const late = Math.max(0, seconds - parSeconds) / (parSeconds * SLOW_FACTOR);
  const forTime = Math.min(PART_MAX, Math.round(late * PART_MAX));
  const forSteps = Math.min(PART_MAX, Math.max(0, steps - parSteps) * PER_STEP);
  const forHints = Math.min(PART_MAX, hints * PER_HINT);
  return { ...performance, score: FULL_SCORE - forTime - forSteps - forHints };
};

/** A snapshot is prudence, and some are taken by the schedule. */
const STEP_KINDS: readonly TimelineEntry['kind'][] = ['action', 'upgrade'];
type Entry = Pick<TimelineEntry, 'atMs' | 'lane' | 'kind' | 'text'>;
type Write = Pick<AuditEventView, 'atMs' | 'verb' | 'resource' | 'namespace' | 'name' | 'code'>;

/**
 * What happened between two moments: everything that the timeline recorded, and what the person wrote to the API. Steps
 * are the person's: operations of the console or the command line, and writes that the API accepted.
 */
export const storyOf = (
  entries: readonly Entry[],
  writes: readonly Write[],
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly DrillStoryLine[] => {
  const isWithin = ({ atMs }: { readonly atMs: number }): boolean => atMs >= fromMs && atMs <= toMs;
  return [
    ...entries.filter(isWithin).map(({ atMs, lane, kind, text }) => ({
      atMs,
      lane,
      text,
      isStep: lane === 'operator' && STEP_KINDS.includes(kind),
    })),
    ...writes.filter(isWithin).map(({ atMs, verb, resource, namespace, name, code }) => ({
      atMs,
      lane: 'api' as const,
      text: say('drill.write', {
        verb,
        object: verbatim([namespace, resource, name].filter((part) => part !== '').join('/')),
        code: `${code}`,
      }),
      isStep: code < 400,
    })),
  ].sort((a, b) => a.atMs - b.atMs);
};

/** At most as many lines as a record keeps: every step first, then the newest of the rest. */
export const boundedStory = (story: readonly DrillStoryLine[], max: number): readonly DrillStoryLine[] => {
  const steps = story.filter(({ isStep }) => isStep).slice(0, max);
  const room = max - steps.length;
  const others = room === 0 ? [] : story.filter(({ isStep }) => !isStep).slice(-room);
  return [...steps, ...others].sort((a, b) => a.atMs - b.atMs);
};

export const stepsIn = (story: readonly DrillStoryLine[]): number =>
  story.filter(({ isStep }) => isStep).length;
