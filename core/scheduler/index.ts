export { createScheduler } from './loop/scheduler.ts';
export type { Scheduler, SchedulerFailure, SchedulerOptions } from './loop/scheduler.ts';
export { DEFAULT_CONFIGURATION } from './config/configuration.ts';
export type { ExtenderConfig, SchedulerConfiguration } from './config/configuration.ts';
export type { Explanation, NodeScore, Preemption, Rejection } from './explain/explanation.ts';
export { ExplanationRing } from './explain/explanation-ring.ts';
export { schedulerMetrics } from './metrics/metrics.ts';
export type { SchedulerMetrics } from './metrics/metrics.ts';
