import type { KubernetesObject } from '../../../api/meta/index.ts';
import { has, maybeObj, obj, objs, str, strs, type Obj } from '../../../api/validation/read.ts';
import type { MatchPolicy, Rule } from '../match/rules.ts';
import { parseSelector, type ParsedSelector } from '../match/selectors.ts';
import { ruleOf } from '../webhooks/hook.ts';

/** Which requests a policy or a binding is about. */
export interface MatchResources {
  readonly rules: readonly Rule[];
  readonly excluded: readonly Rule[];
  readonly matchPolicy: MatchPolicy;
  readonly namespaceSelector: ParsedSelector;
  readonly objectSelector: ParsedSelector;
  /** A selector that is missing is a mistake of the configuration: defaulting sets it. */
  readonly missingSelector: 'namespace' | 'object' | undefined;
}

export interface ParamKind {
  readonly apiVersion: string;
  readonly kind: string;
}

export interface ParamRef {
  readonly name: string;
  readonly namespace: string;
  readonly selector: ParsedSelector | undefined;
  readonly deniesMissing: boolean;
}

export interface Named {
  readonly name: string;
  readonly expression: string;
}

/** What both kinds of policies have. */
export interface Policy {
  readonly name: string;
  readonly constraints: MatchResources | undefined;
  readonly paramKind: ParamKind | undefined;
  readonly failsOpen: boolean;
  readonly conditions: readonly Named[];
  readonly variables: readonly Named[];
  readonly spec: Obj;
}

export interface Binding {
  readonly name: string;
  readonly policyName: string;
  readonly resources: MatchResources | undefined;
  readonly paramRef: ParamRef | undefined;
  /** Of validating policies: Deny, Warn, Audit. */
  readonly actions: readonly string[];
}

const matchResourcesOf = (of: Obj | undefined): MatchResources | undefined =>
  of && {
    rules: objs(of, 'resourceRules').map(ruleOf),
    excluded: objs(of, 'excludeResourceRules').map(ruleOf),
    matchPolicy: str(of, 'matchPolicy') === 'Equivalent' ? 'Equivalent' : 'Exact',
    namespaceSelector: parseSelector(maybeObj(of, 'namespaceSelector')),
    objectSelector: parseSelector(maybeObj(of, 'objectSelector')),
    missingSelector: !has(of, 'namespaceSelector')
      ? 'namespace'
      : !has(of, 'objectSelector')
        ? 'object'
        : undefined,
  };

const namedOf = (list: readonly Obj[]): readonly Named[] =>
  list.map((one) => ({ name: str(one, 'name'), expression: str(one, 'expression') }));

export const policyOf = (object: KubernetesObject): Policy => {
  const spec = obj(object, 'spec');
  const paramKind = maybeObj(spec, 'paramKind');
  return {
    name: object.metadata?.name ?? '',
    constraints: matchResourcesOf(maybeObj(spec, 'matchConstraints')),
    paramKind: paramKind && { apiVersion: str(paramKind, 'apiVersion'), kind: str(paramKind, 'kind') },
    failsOpen: str(spec, 'failurePolicy') === 'Ignore',
    conditions: namedOf(objs(spec, 'matchConditions')),
    variables: namedOf(objs(spec, 'variables')),
    spec,
  };
};

export const bindingOf = (object: KubernetesObject): Binding => {
  const spec = obj(object, 'spec');
  const ref = maybeObj(spec, 'paramRef');
  return {
    name: object.metadata?.name ?? '',
    policyName: str(spec, 'policyName'),
    resources: matchResourcesOf(maybeObj(spec, 'matchResources')),
    paramRef: ref && {
      name: str(ref, 'name'),
      namespace: str(ref, 'namespace'),
      selector: has(ref, 'selector') ? parseSelector(maybeObj(ref, 'selector')) : undefined,
      deniesMissing: str(ref, 'parameterNotFoundAction') === 'Deny',
    },
    actions: strs(spec, 'validationActions'),
  };
};
