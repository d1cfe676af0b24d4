import type { Node, Pod, PodAffinityTerm } from '../model/objects.ts';
import { podsOf, selects, type World } from './reference.ts';
import { selectorFromObject } from '../../api/selector/index.ts';

/** Whether `term`, written in `owner`, selects `subject`. */
const concerns = (world: World, term: PodAffinityTerm, owner: Pod, subject: Pod): boolean => {
  const namespace = subject.metadata.namespace ?? '';
  const named = term.namespaces?.length
    ? term.namespaces
    : term.namespaceSelector === undefined
      ? [owner.metadata.namespace]
      : [];
  const inNamespace =
    named.includes(namespace) ||
    (term.namespaceSelector !== undefined &&
      selectorFromObject(term.namespaceSelector).matches(world.namespaceLabels(namespace)));
  return inNamespace && selects(term.labelSelector, subject);
};

const sameDomain = (key: string, a: Node, b: Node): boolean =>
  a.metadata.labels?.[key] !== undefined && a.metadata.labels[key] === b.metadata.labels?.[key];

const required = (pod: Pod, kind: 'podAffinity' | 'podAntiAffinity'): readonly PodAffinityTerm[] =>
  pod.spec.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];

const rejection = (world: World, pod: Pod, node: Node): string | undefined => {
  const all = world.nodes.flatMap((at) => podsOf(world, at).map((other) => ({ at, other })));
  const affinity = required(pod, 'podAffinity');
  if (affinity.length > 0) {
    const wanted = all.filter(({ other }) => affinity.every((term) => concerns(world, term, pod, other)));
    const hasLabels = affinity.every(({ topologyKey }) => node.metadata.labels?.[topologyKey] !== undefined);
    const near = affinity.every(({ topologyKey }) =>
      wanted.some(({ at }) => sameDomain(topologyKey, at, node)),
    );
    const anywhere = affinity.some(({ topologyKey }) =>
      wanted.some(({ at }) => at.metadata.labels?.[topologyKey] !== undefined),
    );
    const isFirst = !anywhere && affinity.every((term) => concerns(world, term, pod, pod));
    if (!hasLabels || !(near || isFirst)) return "node(s) didn't match pod affinity rules";
  }
  for (const term of required(pod, 'podAntiAffinity'))
    if (
      all.some(({ at, other }) => sameDomain(term.topologyKey, at, node) && concerns(world, term, pod, other))
    )
      return "node(s) didn't match pod anti-affinity rules";
  const refused = all.some(({ at, other }) =>
    required(other, 'podAntiAffinity').some(
      (term) => sameDomain(term.topologyKey, at, node) && concerns(world, term, other, pod),
    ),
  );
  return refused ? "node(s) didn't satisfy existing pods anti-affinity rules" : undefined;
};

const scores = (world: World, pod: Pod, nodes: readonly Node[]): readonly number[] => {
  const preferred = (owner: Pod, kind: 'podAffinity' | 'podAntiAffinity') =>
    owner.spec.affinity?.[kind]?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  const raw = nodes.map((node) => {
    let score = 0;
    for (const at of world.nodes)
      for (const other of podsOf(world, at)) {
        const weigh = (term: PodAffinityTerm, owner: Pod, subject: Pod, weight: number): void => {
          if (sameDomain(term.topologyKey, at, node) && concerns(world, term, owner, subject))
            score += weight;
        };
        for (const one of preferred(pod, 'podAffinity')) weigh(one.podAffinityTerm, pod, other, one.weight);
        for (const one of preferred(pod, 'podAntiAffinity'))
          weigh(one.podAffinityTerm, pod, other, -one.weight);
        for (const term of required(other, 'podAffinity')) weigh(term, other, pod, 1);
        for (const one of preferred(other, 'podAffinity')) weigh(one.podAffinityTerm, other, pod, one.weight);
        for (const one of preferred(other, 'podAntiAffinity'))
          weigh(one.podAffinityTerm, other, pod, -one.weight);
      }
    return score;
  });
  const [min, max] = [Math.min(...raw), Math.max(...raw)];
  return raw.map((score) => (max > min ? Math.trunc(100 * ((score - min) / (max - min))) : 0));
};

export const referenceAffinity = { rejection, scores };
