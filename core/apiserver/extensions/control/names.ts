import type { KubernetesObject } from '../../../api/meta/index.ts';
import { obj, sameValue, str, strs, type Obj } from '../../../api/validation/read.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { conditionOf, conditionsOf, withConditions, type Condition } from './conditions.ts';

const acceptedOf = (definition: KubernetesObject): Obj => obj(obj(definition, 'status'), 'acceptedNames');
const requestedOf = (definition: KubernetesObject): Obj => obj(obj(definition, 'spec'), 'names');
const groupOf = (definition: KubernetesObject): string => str(obj(definition, 'spec'), 'group');

interface NamesInUse {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

/** What the definitions of a group hold; the one that asks holds its own. */
const namesInUse = (group: string, definitions: Iterable<KubernetesObject>): NamesInUse => {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const definition of definitions) {
    if (groupOf(definition) !== group) continue;
    const accepted = acceptedOf(definition);
    for (const name of [str(accepted, 'plural'), str(accepted, 'singular'), ...strs(accepted, 'shortNames')])
      resources.add(name);
    for (const name of [str(accepted, 'kind'), str(accepted, 'listKind')]) kinds.add(name);
  }
  return { resources, kinds };
};

const inUse = (name: string): string => `${goQuote(name)} is already in use`;

const REASONS = {
  plural: 'PluralConflict',
  singular: 'SingularConflict',
  kind: 'KindConflict',
  listKind: 'ListKindConflict',
} as const;

interface Accepted {
  readonly names: Obj;
  readonly conflict: { readonly reason: string; readonly message: string } | undefined;
}

/** Names that are free, or already the definition's own; of several conflicts the last is told. */
const accept = (definition: KubernetesObject, used: NamesInUse): Accepted => {
  const requested = requestedOf(definition);
  const accepted = acceptedOf(definition);
  const names: Record<string, unknown> = { ...accepted };
  let conflict: Accepted['conflict'];
  const take = (field: keyof typeof REASONS, taken: ReadonlySet<string>): void => {
    const name = str(requested, field);
    if (name !== str(accepted, field) && taken.has(name))
      conflict = { reason: REASONS[field], message: inUse(name) };
    else names[field] = name;
  };
  take('plural', used.resources);
  take('singular', used.resources);
  const own = new Set(strs(accepted, 'shortNames'));
  const wanted = strs(requested, 'shortNames');
  if (!sameValue(wanted, strs(accepted, 'shortNames'))) {
    const taken = wanted.filter((name) => !own.has(name) && used.resources.has(name)).map(inUse);
    if (taken.length > 0)
      conflict = {
        reason: 'ShortNamesConflict',
        message: taken.length === 1 ? taken[0]! : `[${taken.join(', ')}]`,
      };
    else names['shortNames'] = wanted;
  }
  take('kind', used.kinds);
  take('listKind', used.kinds);
  names['categories'] = strs(requested, 'categories');
  for (const list of ['shortNames', 'categories'])
    if (Array.isArray(names[list]) && names[list].length === 0) delete names[list];
  return { names, conflict };
};

const ESTABLISHED: Condition = {
  type: 'Established',
  status: 'True',
  reason: 'InitialNamesAccepted',
  message: 'the initial names have been accepted',
};
const NOT_ACCEPTED: Condition = {
  type: 'Established',
  status: 'False',
  reason: 'NotAccepted',
  message: 'not all names are accepted',
};

const isTrue = (condition: Obj | undefined): boolean => condition?.['status'] === 'True';

const APPROVAL = 'api-approved.kubernetes.io';
const PROTECTED = /(^|\.)(k8s|kubernetes)\.io$/;

/** Of definitions in the groups of the Kubernetes community: whether somebody has reviewed them. */
const approvalCondition = (definition: KubernetesObject): Condition | undefined => {
  if (!PROTECTED.test(groupOf(definition))) return undefined;
  const text = definition.metadata?.annotations?.[APPROVAL] ?? '';
  const type = 'KubernetesAPIApprovalPolicyConformant';
  const needs = `protected groups must have approval annotation ${goQuote(APPROVAL)}`;
  const rule = 'see https://github.com/kubernetes/enhancements/pull/1111';
  if (text === '')
    return { type, status: 'False', reason: 'MissingAnnotation', message: `${needs}, ${rule}` };
  if (text.startsWith('unapproved'))
    return {
      type,
      status: 'False',
      reason: 'UnapprovedAnnotation',
      message: `not approved: ${goQuote(text)}`,
    };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/\s]+/.test(text))
    return { type, status: 'True', reason: 'ApprovedAnnotation', message: `approved in ${text}` };
  return {
    type,
    status: 'False',
    reason: 'InvalidAnnotation',
    message: `${needs} with either a URL or a reason starting with "unapproved", ${rule}`,
  };
};

/** Whether a definition has all the names it wants: nothing that others do changes it. */
export const hasItsNames = (definition: KubernetesObject): boolean => {
  const requested = requestedOf(definition);
  const accepted = acceptedOf(definition);
  const lists = (names: Obj): unknown => [strs(names, 'shortNames'), strs(names, 'categories')];
  return (
    ['plural', 'singular', 'kind', 'listKind'].every((name) => requested[name] === accepted[name]) &&
    sameValue(lists(requested), lists(accepted)) &&
    isTrue(conditionOf(definition, 'NamesAccepted')) &&
    isTrue(conditionOf(definition, 'Established')) &&
    !PROTECTED.test(groupOf(definition))
  );
};

/**
 * The definition with the names that it may have among the others of its group, and with its conditions; the definition
 * itself where nothing changes. Once established it stays so, whatever becomes of its names.
 */
export const withAcceptedNames = (
  definition: KubernetesObject,
  others: Iterable<KubernetesObject>,
  now: string,
): KubernetesObject => {
  const { names, conflict } = accept(definition, namesInUse(groupOf(definition), others));
  const approval = approvalCondition(definition);
  const wanted: Condition[] = [
    conflict
      ? { type: 'NamesAccepted', status: 'False', ...conflict }
      : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
    ...(isTrue(conditionOf(definition, 'Established')) ? [] : [conflict ? NOT_ACCEPTED : ESTABLISHED]),
    ...(approval ? [approval] : []),
  ];
  const before = conditionsOf(definition);
  const conditions = withConditions(before, wanted, now);
  if (conditions === before && sameValue(names, acceptedOf(definition))) return definition;
  return { ...definition, status: { ...obj(definition, 'status'), acceptedNames: names, conditions } };
};
