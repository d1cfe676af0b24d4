import type { LabelSelectorObject } from '../../api/selector/index.ts';

/** A selector as Go prints the object with %+v, which is how upstream's messages name it. */
export const selectorText = (selector: LabelSelectorObject | null | undefined): string => {
  if (selector === null || selector === undefined) return 'nil';
  const labels = Object.entries(selector.matchLabels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join('');
  const expressions = (selector.matchExpressions ?? [])
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
};
