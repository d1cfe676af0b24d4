import type { ClusterRole, PolicyRule } from './types.ts';

/** The rules that a ClusterRole gathers from those its aggregation rule selects, as the controller writes them. */
export const aggregatedRules = (
  role: ClusterRole,
  all: Iterable<ClusterRole>,
): readonly PolicyRule[] | undefined => {
  const selectors = role.aggregationRule?.clusterRoleSelectors ?? [];
  if (selectors.length === 0) return undefined;
  const candidates = [...all].sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
  const seen = new Set<string>();
  const rules: PolicyRule[] = [];
  for (const { matchLabels = {} } of selectors)
    for (const candidate of candidates) {
      if (candidate.metadata.name === role.metadata.name) continue;
      const labels = candidate.metadata.labels ?? {};
      if (!Object.entries(matchLabels).every(([key, value]) => labels[key] === value)) continue;
      for (const rule of candidate.rules ?? []) {
        const text = JSON.stringify(rule);
        if (seen.has(text)) continue;
        seen.add(text);
        rules.push(rule);
      }
    }
  return rules;
};
