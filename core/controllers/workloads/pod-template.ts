import { canonicalJson } from '../../client/index.ts';
import type { V1PodTemplateSpec } from '../../api/schema/index.ts';

/** Structs and maps of a template for which empty and absent are the same; elsewhere `{}` has a meaning (emptyDir). */
const EMPTY_IS_ABSENT = new Set([
  'metadata',
  'labels',
  'annotations',
  'resources',
  'limits',
  'requests',
  'nodeSelector',
]);

const normalized = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(normalized);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, held]) => [key, normalized(held)] as const)
    .filter(([key, held]) => {
      if (held === null || held === undefined || held === '') return false;
      if (Array.isArray(held)) return held.length > 0;
      return !(typeof held === 'object' && EMPTY_IS_ABSENT.has(key) && Object.keys(held).length === 0);
    });
  return Object.fromEntries(entries);
};

/** The template without what says nothing: two that mean the same are the same text. */
export const normalizedTemplate = (template: V1PodTemplateSpec | undefined): unknown =>
  normalized(template ?? {}) ?? {};

/** The template without one label, of which the owner's copy knows nothing. */
export const withoutLabel = (template: V1PodTemplateSpec | undefined, label: string): V1PodTemplateSpec => {
  const { [label]: _, ...labels } = template?.metadata?.labels ?? {};
  return { ...template, metadata: { ...template?.metadata, labels } };
};

export const sameTemplate = (
  a: V1PodTemplateSpec | undefined,
  b: V1PodTemplateSpec | undefined,
  ignoredLabel: string,
): boolean =>
  canonicalJson(normalizedTemplate(withoutLabel(a, ignoredLabel))) ===
  canonicalJson(normalizedTemplate(withoutLabel(b, ignoredLabel)));
