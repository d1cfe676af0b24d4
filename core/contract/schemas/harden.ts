import * as v from 'valibot';
import { said } from '../sentences/said.ts';

/** What hardening can change, in the order in which it is told. Each can be left out. */
export const HARDENING_MEASURES = [
  'anonymous',
  'oidc',
  'authorization',
  'staticTokens',
  'tokenExpiration',
  'admission',
  'externalIPs',
  'alwaysPullImages',
  'eventRateLimit',
  'audit',
  'encryption',
  'profiling',
  'cipherSuites',
  'requestLimits',
  'fileModes',
  'backups',
] as const;
export const hardeningMeasure = v.picklist(HARDENING_MEASURES);
export type HardeningMeasure = v.InferOutput<typeof hardeningMeasure>;

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(2048), v.regex(/^[^\n\r]*$/));

export const hardeningWishes = v.object({
  skip: v.pipe(v.array(hardeningMeasure), v.maxLength(HARDENING_MEASURES.length)),
  /** An absolute path on another disk or machine; null: the schedule of backups stays. */
  backupDirectory: v.nullable(v.pipe(v.string(), v.minLength(1), v.maxLength(4096))),
  oidc: v.nullable(
    v.object({
      issuerUrl: v.pipe(text, v.startsWith('https://')),
      clientId: text,
      usernameClaim: text,
      groupsClaim: v.nullable(text),
    }),
  ),
});
export type HardeningWishes = v.InferOutput<typeof hardeningWishes>;

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
