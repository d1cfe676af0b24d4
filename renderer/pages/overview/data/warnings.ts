import { newestFirst, splitObject, type EventRow } from '../../../tables/event-rows.ts';

export interface Warning {
  readonly id: string;
  /** As the server prints it, in small letters. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly lastAtMs: number;
}

/** The newest warnings among events. */
export const warningsOf = (events: readonly EventRow[], countMax: number): readonly Warning[] =>
  newestFirst(events.filter(({ isWarning }) => isWarning))
    .slice(0, countMax)
    .map(({ key, object, namespace, reason, message, count, lastAtMs = 0 }) => ({
      id: key,
      ...splitObject(object),
      namespace,
      reason,
      message,
      count,
      lastAtMs,
    }));
