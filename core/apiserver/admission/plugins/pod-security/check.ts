import type { ObjectMeta } from '../../../../api/meta/index.ts';
import type { V1Container, V1PodSpec } from '../../../../api/schema/index.ts';

export interface Subject {
  readonly metadata: ObjectMeta;
  readonly spec: V1PodSpec;
}

/** Why a pod is against a level: the reason alone for many pods, with the detail for one. */
export interface Violation {
  readonly reason: string;
  readonly detail: string;
}

/** One rule of the Pod Security Standards in one form; rules grow stricter or looser with versions. */
export interface Check {
  readonly id: string;
  /** By the first minor of Kubernetes it is for, rising. Before the first there is no such rule. */
  readonly versions: readonly (readonly [
    sinceMinor: number,
    find: (pod: Subject) => Violation | undefined,
  ])[];
  /** Rules of the baseline that this one says with more: they are left out. */
  readonly overrides?: string;
}

export const containersOf = ({ spec }: Subject): readonly V1Container[] => [
  ...(spec.initContainers ?? []),
  ...(spec.containers ?? []),
  ...((spec.ephemeralContainers ?? []) as readonly V1Container[]),
];

export const quoted = (items: Iterable<string>): string => [...items].map((item) => `"${item}"`).join(', ');

export const plural = (word: string, count: number): string => (count === 1 ? word : `${word}s`);

/** `container "a"`, `containers "a", "b"` */
export const containersText = (names: readonly string[]): string =>
  `${plural('container', names.length)} ${quoted(names)}`;

/** `pod and containers "a", "b"` */
export const settersText = (byPod: boolean, names: readonly string[]): string =>
  [...(byPod ? ['pod'] : []), ...(names.length > 0 ? [containersText(names)] : [])].join(' and ');

/** Names of the containers that a predicate finds. */
export const namesWhere = (pod: Subject, isBad: (container: V1Container) => boolean): string[] =>
  containersOf(pod)
    .filter(isBad)
    .map(({ name }) => name);

export const sortedSet = (items: Iterable<string>): string[] => [...new Set(items)].sort();

export const isWindows = ({ spec }: Subject): boolean => spec.os?.name === 'windows';

/** Root inside a user namespace is no one outside of it. */
export const hasUserNamespace = ({ spec }: Subject): boolean => spec.hostUsers === false;
