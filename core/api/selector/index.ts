export type { LabelMatcher, LabelOperator, LabelRequirement, Labels } from './requirement.ts';
export { formatRequirement, labelRequirement } from './requirement.ts';
export { parseRequirements } from './label-parser.ts';
export type { LabelSelector, LabelSelectorObject } from './label-selector.ts';
export {
  EVERYTHING,
  formatLabelSelector,
  NOTHING,
  parseLabelSelector,
  requiredLabelValue,
  selectorFromObject,
  selectorFromSet,
  selectorOrNothing,
} from './label-selector.ts';
export type { FieldLookup, FieldRequirement, FieldSelector } from './field-selector.ts';
export {
  escapeFieldValue,
  EVERY_FIELD,
  fieldSelector,
  parseFieldSelector,
  requiredFieldValue,
  unescapeFieldValue,
} from './field-selector.ts';
export type { ValueExpression } from './node-expression.ts';
export { matchesNodeExpression, matchesValueExpression } from './node-expression.ts';
