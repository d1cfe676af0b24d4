import type { KubernetesObject } from '../../meta/object-meta.ts';

/** One event, two spellings: field of `v1` on the left, of `events.k8s.io/v1` on the right. */
const PAIRS = [
  ['involvedObject', 'regarding'],
  ['source', 'deprecatedSource'],
  ['message', 'note'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
] as const;

const renamed = (object: KubernetesObject, names: ReadonlyMap<string, string>): KubernetesObject =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [names.get(name) ?? name, value]));

const TO_CORE = new Map<string, string>(PAIRS.map(([core, events]) => [events, core]));
const TO_EVENTS = new Map<string, string>(PAIRS);

export const eventToCore = (event: KubernetesObject): KubernetesObject => ({
  ...renamed(event, TO_CORE),
  apiVersion: 'v1',
});

export const eventFromCore = (event: KubernetesObject): KubernetesObject => ({
  ...renamed(event, TO_EVENTS),
  apiVersion: 'events.k8s.io/v1',
});

/** The field selectors of `events.k8s.io/v1` in the words of the core group, which is what is selected on. */
export const eventFieldLabel = (label: string): string => {
  const dot = label.indexOf('.');
  const [head, rest] = dot < 0 ? [label, ''] : [label.slice(0, dot), label.slice(dot)];
  return (TO_CORE.get(head) ?? head) + rest;
};
