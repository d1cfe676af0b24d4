import type { FieldError } from '../../field/field-error.ts';
import { invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isPathSegmentName, nameIsDnsSubdomain } from '../../field/formats.ts';
import { labelSelector } from '../checks.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { maybeObj, obj, objs, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';

const GROUP = 'rbac.authorization.k8s.io';

function policyRule(path: FieldPath, rule: Obj, namespaced: boolean): FieldError[] {
  const urls = strs(rule, 'nonResourceURLs');
  const isEmpty = (name: string): boolean => strs(rule, name).length === 0;
  const errors = isEmpty('verbs')
    ? [required(child(path, 'verbs'), 'verbs must contain at least one value')]
    : [];
  if (urls.length > 0) {
    const at = child(path, 'nonResourceURLs');
    if (namespaced) errors.push(invalid(at, urls, 'namespaced rules cannot apply to non-resource URLs'));
    if (!isEmpty('apiGroups') || !isEmpty('resources') || !isEmpty('resourceNames'))
      errors.push(invalid(at, urls, 'rules cannot apply to both regular resources and non-resource URLs'));
    return errors;
  }
  if (isEmpty('apiGroups'))
    errors.push(required(child(path, 'apiGroups'), 'resource rules must supply at least one api group'));
  if (isEmpty('resources'))
    errors.push(required(child(path, 'resources'), 'resource rules must supply at least one resource'));
  return errors;
}

function roleRules(namespaced: boolean): KindRules {
  const meta = { namespaced, name: isPathSegmentName };
  const rules = (role: Obj): FieldError[] => [
    ...objs(role, 'rules').flatMap((rule, i) => policyRule(index('rules', i), rule, namespaced)),
    ...objs(obj(role, 'aggregationRule'), 'clusterRoleSelectors').flatMap((selector, i) =>
      labelSelector(index('aggregationRule.clusterRoleSelectors', i), selector),
    ),
    ...(!namespaced &&
    maybeObj(role, 'aggregationRule') !== undefined &&
    objs(obj(role, 'aggregationRule'), 'clusterRoleSelectors').length === 0
      ? [
          required(
            'aggregationRule.clusterRoleSelectors',
            'at least one clusterRoleSelector required if aggregationRule is non-nil',
          ),
        ]
      : []),
  ];
  return {
    ...meta,
    create: (role) => [...objectMeta(role, meta), ...rules(role)],
    update: (role, before) => [...objectMeta(role, meta), ...rules(role), ...objectMetaUpdate(role, before)],
  };
}

function subject(path: FieldPath, of: Obj, namespaced: boolean): FieldError[] {
  const kind = str(of, 'kind');
  const name = str(of, 'name');
  const group = str(of, 'apiGroup');
  const errors = name === '' ? [required(child(path, 'name'))] : [];
  const groupIs = (wanted: string): FieldError[] =>
    group === wanted ? [] : [notSupported(child(path, 'apiGroup'), group, [wanted])];
  switch (kind) {
    case 'ServiceAccount':
      if (name !== '')
        errors.push(
          ...nameIsDnsSubdomain(name, false).map((message) => invalid(child(path, 'name'), name, message)),
        );
      errors.push(...groupIs(''));
      if (!namespaced && str(of, 'namespace') === '') errors.push(required(child(path, 'namespace')));
      return errors;
    case 'User':
    case 'Group':
      return [...errors, ...groupIs(GROUP)];
    default:
      return [...errors, notSupported(child(path, 'kind'), kind, ['ServiceAccount', 'User', 'Group'])];
  }
}

function bindingErrors(binding: Obj, namespaced: boolean): FieldError[] {
  const reference = obj(binding, 'roleRef');
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole'];
  const name = str(reference, 'name');
  return [
    ...(str(reference, 'apiGroup') === GROUP
      ? []
      : [notSupported('roleRef.apiGroup', str(reference, 'apiGroup'), [GROUP])]),
    ...(kinds.includes(str(reference, 'kind'))
      ? []
      : [notSupported('roleRef.kind', str(reference, 'kind'), kinds)]),
    ...(name === ''
      ? [required('roleRef.name')]
      : isPathSegmentName(name, false).map((message) => invalid('roleRef.name', name, message))),
    ...objs(binding, 'subjects').flatMap((of, i) => subject(index('subjects', i), of, namespaced)),
  ];
}

function bindingRules(namespaced: boolean): KindRules {
  const meta = { namespaced, name: isPathSegmentName };
  return {
    ...meta,
    create: (binding) => [...objectMeta(binding, meta), ...bindingErrors(binding, namespaced)],
    update(binding, before) {
      const reference = obj(binding, 'roleRef');
      // Upstream prints its internal type, whose fields have Go's names.
      const shown = {
        APIGroup: str(reference, 'apiGroup'),
        Kind: str(reference, 'kind'),
        Name: str(reference, 'name'),
      };
      return [
        ...objectMeta(binding, meta),
        ...bindingErrors(binding, namespaced),
        ...objectMetaUpdate(binding, before),
        ...(sameValue(reference, before['roleRef'])
          ? []
          : [invalid('roleRef', shown, 'cannot change roleRef')]),
      ];
    },
  };
}

export const RoleRules = roleRules(true);
export const ClusterRoleRules = roleRules(false);
export const RoleBindingRules = bindingRules(true);
export const ClusterRoleBindingRules = bindingRules(false);
