import type { FieldError } from '../../field/field-error.ts';
import { invalid, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, key } from '../../field/field-path.ts';
import { nameIsDnsSubdomain } from '../../field/formats.ts';
import { FIELD_IMMUTABLE, objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, maybeObj, obj, objs, quantities, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import { QUOTA_RESOURCES, resourceName, resourceQuantity } from './resources.ts';

const META = { namespaced: true, name: nameIsDnsSubdomain };

const SCOPES = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
];
const OPPOSED_SCOPES = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
];

const SCOPE_OF_ANOTHER = 'unsupported scope applied to resource';
const POD_COUNTS = new Set(['pods']);
const POD_RESOURCES = new Set([
  ...POD_COUNTS,
  ...['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'],
]);
const CLAIM_RESOURCES = new Set(['persistentvolumeclaims', 'requests.storage']);

/** Whether a scope says anything of a resource; one that is unknown is told of elsewhere. */
const isScopeOf = (scope: string, resource: string): boolean => {
  if (!SCOPES.includes(scope)) return true;
  if (scope === 'BestEffort') return POD_COUNTS.has(resource);
  return (scope === 'VolumeAttributesClass' ? CLAIM_RESOURCES : POD_RESOURCES).has(resource);
};

function quotaSpec(quota: Obj): FieldError[] {
  const spec = obj(quota, 'spec');
  const scopes = strs(spec, 'scopes');
  const errors = quantities(spec, 'hard').flatMap(([name, amount]) => {
    const at = key('spec.hard', name);
    const isKnown = name.includes('/') || QUOTA_RESOURCES.has(name) || /^(requests\.)?hugepages-/.test(name);
    return [
      ...resourceName(at, name),
      ...(isKnown ? [] : [invalid(at, name, 'must be a standard resource for quota')]),
      ...resourceQuantity(at, name, amount),
    ];
  });
  const names = Object.keys(obj(spec, 'hard')).sort();
  const refused = (scope: string): readonly string[] =>
    names.filter((name) => QUOTA_RESOURCES.has(name) && !isScopeOf(scope, name));
  for (const scope of scopes) {
    if (!SCOPES.includes(scope)) errors.push(invalid('spec.scopes', scopes, 'unsupported scope'));
    for (const _name of refused(scope)) errors.push(invalid('spec.scopes', scopes, SCOPE_OF_ANOTHER));
  }
  errors.push(...conflictingScopes('spec.scopes', scopes, scopes));
  const selector = maybeObj(spec, 'scopeSelector');
  return selector ? [...errors, ...scopeSelector(selector, scopes, refused)] : errors;
}

const conflictingScopes = (
  path: FieldPath,
  scopes: readonly string[],
  shown: readonly string[],
): FieldError[] =>
  OPPOSED_SCOPES.filter((pair) => pair.every((scope) => scopes.includes(scope))).map(() =>
    invalid(path, shown, 'conflicting scopes'),
  );

/** Scopes that select no value. */
const PLAIN_SCOPES = new Set([
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
]);
const ONLY_EXISTS =
  "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";

/** Upstream's paths name no index, and show the selector by the names of its Go fields. */
function scopeSelector(
  selector: Obj,
  scopes: readonly string[],
  refused: (scope: string) => readonly string[],
): FieldError[] {
  const path = 'spec.scopeSelector.matchExpressions';
  const expressions = objs(selector, 'matchExpressions');
  const shown = {
    MatchExpressions: expressions.map((one) => ({
      ScopeName: str(one, 'scopeName'),
      Operator: str(one, 'operator'),
      Values: has(one, 'values') ? strs(one, 'values') : null,
    })),
  };
  const errors = expressions.flatMap((one) => {
    const [scope, operator, values] = [str(one, 'scopeName'), str(one, 'operator'), strs(one, 'values')];
    return [
      ...(SCOPES.includes(scope) ? [] : [invalid(child(path, 'scopeName'), scope, 'unsupported scope')]),
      ...refused(scope).map(() => invalid(path, shown, SCOPE_OF_ANOTHER)),
      ...(PLAIN_SCOPES.has(scope) && operator !== 'Exists'
        ? [invalid(child(path, 'operator'), operator, ONLY_EXISTS)]
        : []),
      ...scopeValues(path, operator, values),
    ];
  });
  const named = expressions.map((one) => str(one, 'scopeName'));
  return [...errors, ...conflictingScopes(path, named, scopes)];
}

const scopeValues = (path: FieldPath, operator: string, values: readonly string[]): FieldError[] => {
  switch (operator) {
    case 'In':
    case 'NotIn':
      return values.length > 0
        ? []
        : [
            required(
              child(path, 'values'),
              "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector",
            ),
          ];
    case 'Exists':
    case 'DoesNotExist':
      return values.length === 0
        ? []
        : [
            invalid(
              child(path, 'values'),
              values,
              "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector",
            ),
          ];
    default:
      return [invalid(child(path, 'operator'), operator, 'not a valid selector operator')];
  }
};

export const ResourceQuotaRules: KindRules = {
  ...META,
  create: (quota) => [...objectMeta(quota, META), ...quotaSpec(quota)],
  update(quota, before) {
    const [scopes, old] = [strs(obj(quota, 'spec'), 'scopes'), strs(obj(before, 'spec'), 'scopes')];
    return [
      ...objectMetaUpdate(quota, before),
      ...quotaSpec(quota),
      ...(sameValue([...scopes].sort(), [...old].sort())
        ? []
        : [invalid('spec.scopes', scopes, FIELD_IMMUTABLE)]),
    ];
  },
};
