import { duplicates, format, labelSelector, oneOf, supportedOnly, wildcardAlone } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, forbidden, invalid, notSupported, required, tooMany } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import {
  isDns1035Label,
  isDns1123Subdomain,
  isPathSegmentName,
  isQualifiedName,
} from '../../field/formats.ts';
import type { Obj } from '../read.ts';
import { has, maybeObj, objs, str, strs } from '../read.ts';

/** What webhooks and admission policies share: which requests they are about. */

export const FAILURE_POLICIES = ['Fail', 'Ignore'];
export const MATCH_POLICIES = ['Equivalent', 'Exact'];
export const REINVOCATION_POLICIES = ['IfNeeded', 'Never'];
const OPERATIONS = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const SCOPES = ['*', 'Cluster', 'Namespaced'];
const MATCH_CONDITIONS_MAX = 64;

/** `pods`, `pods/log`, and the wildcards for either half. */
function resources(path: FieldPath, names: readonly string[]): FieldError[] {
  const errors: FieldError[] = names.length === 0 ? [required(path)] : [];
  const wildSubresources = new Set<string>();
  const wildResources = new Set<string>();
  let hasPlain = false;
  names.forEach((name, i) => {
    const at = index(path, i);
    if (name === '') {
      errors.push(required(at));
      return;
    }
    const slash = name.indexOf('/');
    if (slash < 0) {
      hasPlain = name !== '*';
      return;
    }
    const [resource, subresource] = [name.slice(0, slash), name.slice(slash + 1)];
    if (wildSubresources.has(resource))
      errors.push(invalid(at, name, `if '${resource}/*' is present, must not specify ${name}`));
    if (wildResources.has(subresource))
      errors.push(invalid(at, name, `if '*/${subresource}' is present, must not specify ${name}`));
    if (subresource === '*') wildSubresources.add(resource);
    if (resource === '*') wildResources.add(subresource);
  });
  if (names.length > 1 && names.includes('*/*'))
    errors.push(invalid(path, names, "if '*/*' is present, must not specify other resources"));
  if (names.includes('*') && hasPlain)
    errors.push(
      invalid(path, names, "if '*' is present, must not specify other resources without subresources"),
    );
  return errors;
}

export function ruleWithOperations(path: FieldPath, rule: Obj): FieldError[] {
  const operations = strs(rule, 'operations');
  const groups = strs(rule, 'apiGroups');
  const versions = strs(rule, 'apiVersions');
  const needed = (name: string, values: readonly string[]): FieldError[] =>
    values.length === 0 ? [required(child(path, name))] : [];
  return [
    ...needed('operations', operations),
    ...wildcardAlone(child(path, 'operations'), operations, 'operations'),
    ...operations.flatMap((operation, i) =>
      supportedOnly(index(child(path, 'operations'), i), operation, OPERATIONS),
    ),
    ...needed('apiGroups', groups),
    ...wildcardAlone(child(path, 'apiGroups'), groups, 'API groups'),
    ...needed('apiVersions', versions),
    ...wildcardAlone(child(path, 'apiVersions'), versions, 'API versions'),
    ...versions.flatMap((version, i) =>
      version === '' ? [required(index(child(path, 'apiVersions'), i))] : [],
    ),
    ...resources(child(path, 'resources'), strs(rule, 'resources')),
    ...(has(rule, 'scope') ? supportedOnly(child(path, 'scope'), str(rule, 'scope'), SCOPES) : []),
  ];
}

/** That an expression is there; what it says is checked by the compiler of the server that runs it. */
export function matchConditions(path: FieldPath, conditions: readonly Obj[]): FieldError[] {
  const named = conditions.map((condition) => str(condition, 'name'));
  return [
    ...(conditions.length > MATCH_CONDITIONS_MAX
      ? [tooMany(path, conditions.length, MATCH_CONDITIONS_MAX)]
      : []),
    ...conditions.flatMap((condition, i) => {
      const at = index(path, i);
      const name = str(condition, 'name');
      return [
        ...(str(condition, 'expression').trim() === '' ? [required(child(at, 'expression'))] : []),
        ...(name === '' ? [required(child(at, 'name'))] : format(child(at, 'name'), name, isQualifiedName)),
      ];
    }),
    ...duplicates(named, (i) => child(index(path, i), 'name'), duplicate).filter(
      ({ badValue }) => badValue !== '',
    ),
  ];
}

function namedRule(path: FieldPath, rule: Obj): FieldError[] {
  const names = strs(rule, 'resourceNames');
  const at = (i: number): FieldPath => index(child(path, 'resourceNames'), i);
  return [
    ...names.flatMap((name, i) =>
      isPathSegmentName(name, false).map((message) => invalid(at(i), name, message)),
    ),
    ...duplicates(names, at, duplicate),
    ...ruleWithOperations(path, rule),
  ];
}

export function matchResources(path: FieldPath, of: Obj | undefined): FieldError[] {
  if (of === undefined) return [];
  const selector = (name: string): FieldError[] =>
    has(of, name) ? labelSelector(child(path, name), maybeObj(of, name)) : [required(child(path, name))];
  return [
    ...oneOf(child(path, 'matchPolicy'), str(of, 'matchPolicy'), MATCH_POLICIES),
    ...selector('namespaceSelector'),
    ...selector('objectSelector'),
    ...['resourceRules', 'excludeResourceRules'].flatMap((name) =>
      objs(of, name).flatMap((rule, i) => namedRule(index(child(path, name), i), rule)),
    ),
  ];
}

export function paramKind(path: FieldPath, of: Obj): FieldError[] {
  const apiVersion = str(of, 'apiVersion');
  const kind = str(of, 'kind');
  return [
    ...paramApiVersion(child(path, 'apiVersion'), apiVersion),
    ...(kind === ''
      ? [required(child(path, 'kind'))]
      : joined(
          child(path, 'kind'),
          kind,
          isDns1035Label(kind.toLowerCase()),
          'may have mixed case, but should otherwise match: ',
        )),
  ];
}

function paramApiVersion(path: FieldPath, apiVersion: string): FieldError[] {
  if (apiVersion === '') return [required(path)];
  const parts = apiVersion.split('/');
  if (parts.length > 2) return [invalid(path, apiVersion, `unexpected GroupVersion string: ${apiVersion}`)];
  const version = parts.at(-1)!;
  const group = parts.length === 2 ? parts[0]! : '';
  return [
    ...(group === '' ? [] : joined(path, group, isDns1123Subdomain(group))),
    ...(version === ''
      ? [invalid(path, apiVersion, 'version must be specified')]
      : joined(path, version, isDns1035Label(version))),
  ];
}

/** Several reasons in one error. */
export const joined = (
  path: FieldPath,
  value: string,
  messages: readonly string[],
  before = '',
): FieldError[] => (messages.length === 0 ? [] : [invalid(path, value, before + messages.join(','))]);

const EXCLUSIVE = 'name and selector are mutually exclusive';
const NOT_FOUND_ACTIONS = ['Deny', 'Allow'];

export function paramRef(path: FieldPath, of: Obj | undefined): FieldError[] {
  if (of === undefined) return [];
  const name = str(of, 'name');
  const selector = maybeObj(of, 'selector');
  const action = str(of, 'parameterNotFoundAction');
  const isBoth = name !== '' && selector !== undefined;
  return [
    ...(name === ''
      ? []
      : isPathSegmentName(name, false).map((message) => invalid(child(path, 'name'), name, message))),
    ...(isBoth ? [forbidden(child(path, 'name'), EXCLUSIVE)] : []),
    ...labelSelector(child(path, 'selector'), selector),
    ...(isBoth ? [forbidden(child(path, 'selector'), EXCLUSIVE)] : []),
    ...(name === '' && selector === undefined
      ? [required(path, 'one of name or selector must be specified')]
      : []),
    ...(action === ''
      ? [required(child(path, 'parameterNotFoundAction'))]
      : NOT_FOUND_ACTIONS.includes(action)
        ? []
        : [notSupported(child(path, 'parameterNotFoundAction'), action, NOT_FOUND_ACTIONS)]),
  ];
}
