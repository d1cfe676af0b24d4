import { NOTHING, type Labels, type LabelSelector } from '../../api/selector/index.ts';
import { compiledSelector } from './selectors.ts';
import type { Affinity, PodAffinityTerm, WeightedPodAffinityTerm } from './objects.ts';

/** One compiled term of pod (anti-)affinity. */
export interface AffinityTerm {
  readonly topologyKey: string;
  readonly namespaces: ReadonlySet<string>;
  readonly namespaceSelector: LabelSelector;
  readonly selector: LabelSelector;
  readonly weight: number;
}

export interface AffinityTerms {
  readonly required: readonly AffinityTerm[];
  readonly requiredAnti: readonly AffinityTerm[];
  readonly preferred: readonly AffinityTerm[];
  readonly preferredAnti: readonly AffinityTerm[];
}

const NO_TERMS: readonly AffinityTerm[] = [];
export const NO_AFFINITY: AffinityTerms = {
  required: NO_TERMS,
  requiredAnti: NO_TERMS,
  preferred: NO_TERMS,
  preferredAnti: NO_TERMS,
};

/** A term that names neither namespaces nor a selector of them means the namespace of its pod. */
const compileTerm = (term: PodAffinityTerm, namespace: string, weight: number): AffinityTerm => ({
  topologyKey: term.topologyKey,
  namespaces: new Set(
    term.namespaces?.length ? term.namespaces : term.namespaceSelector === undefined ? [namespace] : [],
  ),
  namespaceSelector: term.namespaceSelector ? compiledSelector(term.namespaceSelector) : NOTHING,
  selector: compiledSelector(term.labelSelector),
  weight,
});

const required = (
  terms: readonly PodAffinityTerm[] | undefined,
  namespace: string,
): readonly AffinityTerm[] => terms?.map((term) => compileTerm(term, namespace, 0)) ?? NO_TERMS;

const preferred = (
  terms: readonly WeightedPodAffinityTerm[] | undefined,
  namespace: string,
): readonly AffinityTerm[] =>
  terms?.map((term) => compileTerm(term.podAffinityTerm, namespace, term.weight)) ?? NO_TERMS;

export const compileAffinity = (affinity: Affinity | undefined, namespace: string): AffinityTerms => {
  if (!affinity?.podAffinity && !affinity?.podAntiAffinity) return NO_AFFINITY;
  const { podAffinity, podAntiAffinity } = affinity;
  return {
    required: required(podAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace),
    requiredAnti: required(podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution, namespace),
    preferred: preferred(podAffinity?.preferredDuringSchedulingIgnoredDuringExecution, namespace),
    preferredAnti: preferred(podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution, namespace),
  };
};

export interface TermSubject {
  readonly namespace: string;
  readonly labels: Labels | undefined;
}

/** `namespaceLabels` are those of the subject's namespace. */
export const termMatches = (
  term: AffinityTerm,
  subject: TermSubject,
  namespaceLabels: Labels | undefined,
): boolean =>
  (term.namespaces.has(subject.namespace) || term.namespaceSelector.matches(namespaceLabels)) &&
  term.selector.matches(subject.labels);
