import { at, listOf, textAt, type KubeObject } from '../../../kinds/kube-object.ts';

export interface Warning {
  readonly id: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly lastAtMs: number;
}

/** An event of either API: the newest moment that it speaks of. */
const lastAtMsOf = (event: KubeObject): number =>
  Math.max(
    0,
    ...[
      textAt(event, 'series', 'lastObservedTime'),
      textAt(event, 'lastTimestamp'),
      textAt(event, 'eventTime'),
      textAt(event, 'metadata', 'creationTimestamp'),
    ]
      .map((text) => Date.parse(text))
      .filter((ms) => !Number.isNaN(ms)),
  );

/** Warnings of a list of events, newest first. */
export const warningsOf = (list: unknown, countMax: number): readonly Warning[] =>
  listOf(at(list, 'items'))
    .filter((event) => textAt(event, 'type') === 'Warning')
    .map((event) => ({
      id: textAt(event, 'metadata', 'uid') || textAt(event, 'metadata', 'name'),
      kind: textAt(event, 'involvedObject', 'kind'),
      namespace: textAt(event, 'involvedObject', 'namespace'),
      name: textAt(event, 'involvedObject', 'name'),
      reason: textAt(event, 'reason'),
      message: textAt(event, 'message'),
      count: Number(at(event, 'series', 'count') ?? at(event, 'count') ?? 1) || 1,
      lastAtMs: lastAtMsOf(event),
    }))
    .sort((a, b) => b.lastAtMs - a.lastAtMs)
    .slice(0, countMax);
