import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { TIMELINE_LANES } from './timeline.ts';

export const DRILL_TOPICS = [
  'etcd',
  'api',
  'scheduling',
  'controllers',
  'workloads',
  'nodes',
  'certificates',
  'access',
  'upgrade',
  'backup',
] as const;
export const DRILL_DIFFICULTIES = ['easy', 'medium', 'hard'] as const;
/** A document of a drill; longer ones are not read. */
export const DRILL_CHARACTERS_MAX = 64 * 1024;
export const DRILL_LIST_MAX = 32;
export const DRILLS_MAX = 256;
export const DRILL_STORY_MAX = 100;

const drillName = v.pipe(v.string(), v.maxLength(64));
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const texts = v.pipe(v.array(v.string()), v.maxLength(DRILL_LIST_MAX));

/** What a drill says in one language. */
export const drillWords = v.object({ title: v.string(), symptoms: texts, hints: texts, assertions: texts });
export type DrillWords = v.InferOutput<typeof drillWords>;

export const drillSummary = v.object({
  name: drillName,
  topic: v.picklist(DRILL_TOPICS),
  difficulty: v.picklist(DRILL_DIFFICULTIES),
  title: v.string(),
  germanTitle: v.nullable(v.string()),
  parSeconds: count,
  parSteps: count,
  hints: count,
});
export type DrillSummary = v.InferOutput<typeof drillSummary>;

export const drillGrade = v.object({
  /** 0 to 100. */
  score: count,
  seconds: count,
  parSeconds: count,
  steps: count,
  parSteps: count,
  hints: count,
  /** The solution was run by the script, which is not graded. */
  isScripted: v.boolean(),
});
export type DrillGrade = v.InferOutput<typeof drillGrade>;

export const drillStoryLine = v.object({
  atMs: v.number(),
  /** `api`: a write of the person, from the audit log. */
  lane: v.picklist([...TIMELINE_LANES, 'api']),
  text: said,
  /** Counts as a step of the repair. */
  isStep: v.boolean(),
});
export type DrillStoryLine = v.InferOutput<typeof drillStoryLine>;

export const drillRun = v.object({
  name: drillName,
  topic: v.picklist(DRILL_TOPICS),
  difficulty: v.picklist(DRILL_DIFFICULTIES),
  /** Without hints that were not asked for, and with '' for assertions that would give the cause away. */
  words: drillWords,
  german: v.nullable(drillWords),
  /** `failed`: the setup failed, and was undone. */
  phase: v.picklist(['preparing', 'broken', 'solved', 'abandoned', 'failed']),
  startedAtMs: v.number(),
  brokenAtMs: v.nullable(v.number()),
  endedAtMs: v.nullable(v.number()),
  hintsTotal: count,
  /** By the last check, in the order of the words; null before the first. */
  checks: v.nullable(
    v.pipe(
      v.array(v.object({ isPassed: v.boolean(), detail: v.nullable(said) })),
      v.maxLength(DRILL_LIST_MAX),
    ),
  ),
  checkedAtMs: v.nullable(v.number()),
  grade: v.nullable(drillGrade),
  story: v.pipe(v.array(drillStoryLine), v.maxLength(DRILL_STORY_MAX)),
  parSeconds: count,
  parSteps: count,
  /** What went wrong with the run itself. */
  problem: v.nullable(said),
  /** Something of it is in progress: preparation, a check, cleaning up. */
  isBusy: v.boolean(),
});
export type DrillRun = v.InferOutput<typeof drillRun>;

export const drillView = v.object({
  /** The cluster was created for drills; on any other none is started. */
  isScratch: v.boolean(),
  run: v.nullable(drillRun),
});
export type DrillView = v.InferOutput<typeof drillView>;

/** What a person asks of a drill. `solve` runs its solution. */
export const drillRequest = v.variant('kind', [
  v.object({ kind: v.literal('start'), name: drillName }),
  /** A document of the person's own. */
  v.object({
    kind: v.literal('startOwn'),
    text: v.pipe(v.string(), v.maxLength(DRILL_CHARACTERS_MAX)),
  }),
  v.object({ kind: v.literal('hint') }),
  v.object({ kind: v.literal('check') }),
  v.object({ kind: v.literal('solve') }),
  v.object({ kind: v.literal('giveUp') }),
]);
export type DrillRequest = v.InferOutput<typeof drillRequest>;
