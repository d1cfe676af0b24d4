import * as v from 'valibot';
import { said } from '../sentences/said.ts';
import { clusterRef } from './kube.ts';

export const HELM_RELEASES_MAX = 2000;
export const HELM_OBJECTS_MAX = 2000;
const text = v.pipe(v.string(), v.maxLength(512));
/** As helm allows them; a selector is made of it. */
const releaseName = v.pipe(text, v.regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/));
const revision = v.pipe(v.number(), v.integer(), v.minValue(1));

export const helmRevision = v.object({
  name: v.string(),
  namespace: v.string(),
  revision: v.number(),
  /** deployed, superseded, failed, pending-upgrade: helm's words. */
  status: v.string(),
  updatedAtMs: v.nullable(v.number()),
  /** `nginx-1.2.3`; empty where only labels were read. */
  chart: v.string(),
  appVersion: v.string(),
  description: v.string(),
});
export type HelmRevision = v.InferOutput<typeof helmRevision>;

export const helmReleases = v.object({ releases: v.array(helmRevision), isCut: v.boolean() });
export type HelmReleases = v.InferOutput<typeof helmReleases>;

/** Revision null: the newest. */
export const helmReleaseQuery = v.object({
  cluster: clusterRef,
  namespace: v.pipe(text, v.minLength(1)),
  name: releaseName,
  revision: v.nullable(revision),
});

export const helmRelease = v.object({
  ...helmRevision.entries,
  /** Newest first. */
  history: v.array(helmRevision),
  /** As YAML: what the user set, and all values with the defaults of the chart. */
  values: v.string(),
  allValues: v.string(),
  notes: v.string(),
  manifest: v.string(),
  hooks: v.array(v.object({ name: v.string(), kind: v.string(), events: v.array(v.string()) })),
  objects: v.pipe(
    v.array(
      v.object({
        apiVersion: v.string(),
        kind: v.string(),
        namespace: v.string(),
        name: v.string(),
        health: v.picklist(['ok', 'progressing', 'failed', 'missing', 'unknown']),
        /** `2/3` ready, or the reason of a condition; empty where there is nothing to say. */
        figures: v.string(),
      }),
    ),
    v.maxLength(HELM_OBJECTS_MAX),
  ),
});
export type HelmRelease = v.InferOutput<typeof helmRelease>;

export const helmChange = v.object({
  cluster: clusterRef,
  namespace: v.pipe(text, v.minLength(1)),
  name: releaseName,
  /** The revision to go back to; null: uninstall. */
  rollbackTo: v.nullable(revision),
  dryRun: v.boolean(),
});
export type HelmChange = v.InferOutput<typeof helmChange>;

export const helmChangeReport = v.object({
  /** The new revision of a rollback; null after an uninstall or a dry run. */
  revision: v.nullable(v.number()),
  steps: v.array(
    v.object({
      kind: v.string(),
      namespace: v.string(),
      name: v.string(),
      outcome: v.picklist(['applied', 'deleted', 'kept', 'absent', 'failed']),
      /** Why it failed. */
      message: v.nullable(said),
    }),
  ),
  warnings: v.array(said),
});
export type HelmChangeReport = v.InferOutput<typeof helmChangeReport>;
