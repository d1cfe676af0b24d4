import type { LabelRequirement } from '../../../api/selector/index.ts';
import type { Attributes } from '../authorizer.ts';

/** `spec` of a SubjectAccessReview of authorization.k8s.io/v1, with the fields in upstream's order. */
export interface ReviewSpec {
  readonly resourceAttributes?: Readonly<Record<string, unknown>>;
  readonly nonResourceAttributes?: Readonly<Record<string, unknown>>;
  readonly user?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
  readonly uid?: string;
}

export type ReviewVersion = 'v1' | 'v1beta1';

/** Go leaves empty fields out. */
const filled = (fields: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));

const LABEL_OPERATORS: Readonly<Partial<Record<LabelRequirement['operator'], string>>> = {
  '=': 'In',
  '==': 'In',
  in: 'In',
  '!=': 'NotIn',
  notin: 'NotIn',
  exists: 'Exists',
  '!': 'DoesNotExist',
};

const selectorsOf = ({ fieldRequirements, labelRequirements }: Attributes): object => {
  const fields = fieldRequirements.map(({ field, operator, value }) => ({
    key: field,
    operator: operator === '=' ? 'In' : 'NotIn',
    values: [value],
  }));
  const labels = labelRequirements.flatMap(({ key, operator, values }) => {
    const name = LABEL_OPERATORS[operator];
    return name === undefined ? [] : [{ key, operator: name, ...(values.length > 0 && { values }) }];
  });
  return {
    ...(fields.length > 0 && { fieldSelector: { requirements: fields } }),
    ...(labels.length > 0 && { labelSelector: { requirements: labels } }),
  };
};

/** What a webhook is asked about a request. */
export const reviewSpecOf = (attributes: Attributes): ReviewSpec => {
  const { user, verb, namespace, apiGroup: group, apiVersion: version } = attributes;
  const { resource, subresource, name, path } = attributes;
  return {
    ...(attributes.isResourceRequest
      ? {
          resourceAttributes: {
            ...filled({ namespace, verb, group, version, resource, subresource, name }),
            ...selectorsOf(attributes),
          },
        }
      : { nonResourceAttributes: filled({ path, verb }) }),
    ...(user.name !== '' && { user: user.name }),
    ...(user.groups.length > 0 && { groups: user.groups }),
    ...(Object.keys(user.extra).length > 0 && { extra: user.extra }),
    ...(user.uid !== '' && { uid: user.uid }),
  };
};

/** The older version calls groups `group`. */
export const reviewOf = (spec: ReviewSpec, version: ReviewVersion): object => {
  const { groups, ...rest } = spec;
  return {
    kind: 'SubjectAccessReview',
    apiVersion: `authorization.k8s.io/${version}`,
    metadata: {},
    spec: version === 'v1' ? spec : { ...rest, ...(groups && { group: groups }) },
    status: { allowed: false },
  };
};
