import * as v from 'valibot';
import { hardeningMeasure } from '../actions/hardening-wishes.ts';
import { said } from '../sentences/said.ts';

/** A file that is written; `before` is null for a new one. */
export const hardeningFile = v.object({
  /** Hosts whose files change alike are told once: their paths differ in the name of the host. */
  hosts: v.array(v.string()),
  path: v.string(),
  before: v.nullable(v.string()),
  after: v.string(),
});
export type HardeningFile = v.InferOutput<typeof hardeningFile>;

export const hardeningPlan = v.object({
  measures: v.array(
    v.object({
      id: hardeningMeasure,
      title: said,
      /** `choice`: only a person can say it, such as where backups go. */
      state: v.picklist(['done', 'planned', 'skipped', 'choice']),
      detail: v.nullable(said),
    }),
  ),
  files: v.array(hardeningFile),
  /** What changes without a file: modes, the schedule, stored objects. */
  notes: v.array(said),
  steps: v.array(v.object({ id: v.string(), title: said })),
  /** Hardening is incomplete. */
  isUnfinished: v.boolean(),
  /** It can be taken back. */
  canRollBack: v.boolean(),
});
export type HardeningPlan = v.InferOutput<typeof hardeningPlan>;
