import { join } from 'node:path';
import * as v from 'valibot';
import {
  DRILL_CHARACTERS_MAX,
  DRILL_LIST_MAX,
  DRILL_STORY_MAX,
  drillGrade,
  drillStoryLine,
  SaidError,
  say,
  type DrillGrade,
  type DrillStoryLine,
  type Said,
} from '../../contract/index.ts';
import { said } from '../../contract/sentences/said.ts';
import { stateFile } from '../data-folder/state-file.ts';
import { boundedStory } from './grade.ts';

const UNDO_MAX = 256;

/** How one step of a setup is taken back. Each can be done again without harm. */
const undo = v.variant('kind', [
  v.object({ kind: v.literal('host'), host: v.string() }),
  v.object({ kind: v.literal('component'), host: v.string(), component: v.string() }),
  v.object({
    kind: v.literal('flags'),
    component: v.string(),
    flags: v.array(v.object({ name: v.string(), value: v.nullable(v.string()) })),
  }),
  v.object({ kind: v.literal('image'), host: v.string(), component: v.string() }),
  v.object({ kind: v.literal('heal') }),
  v.object({ kind: v.literal('certificate'), name: v.string() }),
  v.object({ kind: v.literal('disarm') }),
  /** `before` null: it did not exist. */
  v.object({
    kind: v.literal('object'),
    apiVersion: v.string(),
    objectKind: v.string(),
    namespace: v.nullable(v.string()),
    name: v.string(),
    before: v.nullable(v.record(v.string(), v.unknown())),
  }),
]);
export type Undo = v.InferOutput<typeof undo>;

const check = v.object({ isPassed: v.boolean(), detail: v.nullable(said) });
export type Check = v.InferOutput<typeof check>;

const schema = v.object({
  text: v.pipe(v.string(), v.maxLength(DRILL_CHARACTERS_MAX)),
  phase: v.picklist(['preparing', 'broken', 'solved', 'abandoned', 'failed']),
  startedAtMs: v.number(),
  brokenAtMs: v.nullable(v.number()),
  endedAtMs: v.nullable(v.number()),
  hintsShown: v.number(),
  isScripted: v.boolean(),
  /** Hosts that the setup acted on, by which a solution finds them. */
  hosts: v.array(v.string()),
  /** Written before its step is done, so that a crash leaves nothing broken for good. */
  undo: v.pipe(v.array(undo), v.maxLength(UNDO_MAX)),
  checks: v.nullable(v.pipe(v.array(check), v.maxLength(DRILL_LIST_MAX))),
  checkedAtMs: v.nullable(v.number()),
  grade: v.nullable(drillGrade),
  story: v.pipe(v.array(drillStoryLine), v.maxLength(DRILL_STORY_MAX)),
  problem: v.nullable(said),
});

/** A run of a drill as it is kept in the cluster's directory. */
export type DrillRecord = v.InferOutput<typeof schema>;

export const drillFile = stateFile({
  schema,
  path: (data) => join(data, 'drill.json'),
  remedy: say('directory.damaged.drill'),
});

export const isRunning = ({ phase }: DrillRecord): boolean => phase === 'preparing' || phase === 'broken';

const requirePhase = (record: DrillRecord, phases: readonly DrillRecord['phase'][]): void => {
  if (!phases.includes(record.phase)) throw new SaidError('Conflict', say('drill.notRunning'));
};

export const begin = (text: string, nowMs: number): DrillRecord => ({
  text,
  phase: 'preparing',
  startedAtMs: nowMs,
  brokenAtMs: null,
  endedAtMs: null,
  hintsShown: 0,
  isScripted: false,
  hosts: [],
  undo: [],
  checks: null,
  checkedAtMs: null,
  grade: null,
  story: [],
  problem: null,
});

/** Before a step of the setup is done. */
export const owing = (record: DrillRecord, more: readonly Undo[], hosts: readonly string[]): DrillRecord => {
  requirePhase(record, ['preparing']);
  return {
    ...record,
    undo: [...record.undo, ...more],
    hosts: [...new Set([...record.hosts, ...hosts])],
  };
};

/** The symptoms are there: from now on the time counts. */
export const broke = (record: DrillRecord, nowMs: number): DrillRecord => {
  requirePhase(record, ['preparing']);
  return { ...record, phase: 'broken', brokenAtMs: nowMs };
};

export const hinted = (record: DrillRecord, hintsTotal: number): DrillRecord => {
  requirePhase(record, ['broken']);
  if (record.hintsShown >= hintsTotal) throw new SaidError('NotFound', say('drill.noHint'));
  return { ...record, hintsShown: record.hintsShown + 1 };
};

export const scripted = (record: DrillRecord): DrillRecord => {
  requirePhase(record, ['broken']);
  return { ...record, isScripted: true };
};

export const checked = (record: DrillRecord, checks: readonly Check[], nowMs: number): DrillRecord => {
  requirePhase(record, ['broken']);
  return { ...record, checks: [...checks], checkedAtMs: nowMs };
};

/** After a check that every assertion has passed. */
export const solved = (
  record: DrillRecord,
  outcome: { readonly grade: DrillGrade; readonly story: readonly DrillStoryLine[] },
): DrillRecord => {
  requirePhase(record, ['broken']);
  if (record.checks?.every(({ isPassed }) => isPassed) !== true)
    throw new SaidError('Conflict', say('drill.notSolved'));
  return {
    ...record,
    phase: 'solved',
    endedAtMs: record.checkedAtMs,
    grade: outcome.grade,
    story: [...boundedStory(outcome.story, DRILL_STORY_MAX)],
  };
};

export const abandoned = (record: DrillRecord, nowMs: number): DrillRecord => {
  requirePhase(record, ['preparing', 'broken']);
  return { ...record, phase: 'abandoned', endedAtMs: nowMs };
};

export const failed = (record: DrillRecord, why: Said, nowMs: number): DrillRecord => {
  requirePhase(record, ['preparing']);
  return { ...record, phase: 'failed', endedAtMs: nowMs, problem: why };
};

/** Everything that the setup did is taken back, apart from what `problem` says. */
export const undone = (record: DrillRecord, problem: Said | null): DrillRecord => ({
  ...record,
  undo: [],
  problem: problem ?? record.problem,
});
