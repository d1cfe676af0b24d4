import type { KubernetesObject } from '../../api/meta/object-meta.ts';

export type EventType = 'Normal' | 'Warning';

export interface EventOptions {
  /** The part of the object that is meant: `spec.containers{web}`. */
  readonly fieldPath?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/**
 * Tells users what happened to an object. Never waits and never fails: events that cannot be kept (queue full,
 * spam, server away for long) are dropped and counted. Repeated events become one with a count.
 */
export interface EventRecorder {
  /** `reason` is a short CamelCase word for programs, `message` a sentence for people. */
  event(
    object: KubernetesObject,
    type: EventType,
    reason: string,
    message: string,
    options?: EventOptions,
  ): void;
}

export const silentEvents: EventRecorder = { event() {} };
