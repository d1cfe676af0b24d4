import type { AdmissionAttributes, ServedAs } from '../attributes.ts';
import { findMatch } from '../match/rules.ts';
import { matchesNamespace, matchesObject } from '../match/selectors.ts';
import { NAMESPACES } from '../matching.ts';
import type { ObjectReader } from '../../storage/object-reader.ts';
import type { MatchResources } from './policy.ts';

const REVIEWS = new Set([
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
]);
const POLICY_RESOURCES = new Set([
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
]);

/** Policies decide neither about policies nor about what is asked to find out who may do something. */
export const isExcluded = ({ resource: { group, resource } }: AdmissionAttributes): boolean =>
  REVIEWS.has(`${group}/${resource}`) ||
  (group === 'admissionregistration.k8s.io' && POLICY_RESOURCES.has(resource));

/** As what a request matches; undefined: it does not. Throws where selectors cannot be decided. */
export const matchRequest = async (
  criteria: MatchResources,
  attributes: AdmissionAttributes,
  reader: ObjectReader,
): Promise<ServedAs | undefined> => {
  const { missingSelector, rules, excluded, matchPolicy } = criteria;
  if (missingSelector !== undefined)
    throw new Error(
      `a nil ${missingSelector} selector was passed, please ensure selectors are initialized properly`,
    );
  const matched =
    rules.length === 0
      ? { resource: attributes.resource, kind: attributes.kind }
      : findMatch(rules, matchPolicy, attributes);
  if (!matched) return undefined;
  if (excluded.length > 0 && findMatch(excluded, matchPolicy, attributes)) return undefined;
  if (!(await matchesNamespace(criteria.namespaceSelector, attributes, reader))) return undefined;
  if (!matchesObject(criteria.objectSelector, attributes)) return undefined;
  return matched;
};

/** The namespace that expressions see: none for what is in no namespace, and for namespaces themselves. */
export const namespaceOf = ({ namespace, resource }: AdmissionAttributes): string =>
  resource.group === NAMESPACES.group && resource.resource === NAMESPACES.resource ? '' : namespace;
