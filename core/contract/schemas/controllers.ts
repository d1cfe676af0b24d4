import * as v from 'valibot';
import { said } from '../sentences/said.ts';

export const CONTROLLERS_MAX = 200;

const reconciliation = v.object({
  queue: v.string(),
  /** `namespace/name` mostly; a few controllers queue other words. */
  key: v.string(),
  startedAtMs: v.number(),
  durationMs: v.number(),
  outcome: v.picklist(['done', 'requeued', 'failed']),
  error: v.string(),
  retries: v.number(),
});
export type Reconciliation = v.InferOutput<typeof reconciliation>;

const queueFigures = v.object({
  name: v.string(),
  depth: v.number(),
  adds: v.number(),
  retries: v.number(),
  longestRunningSeconds: v.number(),
  unfinishedSeconds: v.number(),
});
export type QueueFigures = v.InferOutput<typeof queueFigures>;

export const controllerView = v.object({
  /** kube-controller-manager or cloud-controller-manager. */
  manager: v.string(),
  name: v.string(),
  phase: v.picklist(['standby', 'syncing', 'running', 'restarting']),
  error: v.string(),
  queues: v.array(queueFigures),
  working: v.array(v.object({ queue: v.string(), key: v.string(), sinceMs: v.number() })),
  recent: v.array(reconciliation),
  failing: v.array(reconciliation),
});
export type ControllerView = v.InferOutput<typeof controllerView>;

export const controllersView = v.object({
  managers: v.array(
    v.object({
      name: v.string(),
      /** The Lease says so; empty: no process holds it, or there is none. */
      holder: v.string(),
      renewedAtMs: v.nullable(v.number()),
      instances: v.array(v.object({ host: v.string(), isLeading: v.boolean(), problem: v.nullable(said) })),
      /** Caches without their first list: nothing runs before all have one. */
      unsynced: v.array(v.object({ resource: v.string(), error: v.string() })),
    }),
  ),
  controllers: v.pipe(v.array(controllerView), v.maxLength(CONTROLLERS_MAX)),
  /** Why controllers of this cluster cannot be looked into. */
  gaps: v.array(said),
});
export type ControllersView = v.InferOutput<typeof controllersView>;
