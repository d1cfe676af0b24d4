import type { UnitEquality } from '../cost/runtime.ts';
import { BOOL, STRING, type Type, structOf } from '../types/type.ts';
import type { SelfEqual } from '../values/compare.ts';
import { goTrim } from '../values/go-text.ts';
import { CelError, CelObject, NO_SUCH_OVERLOAD, type Value, error } from '../values/value.ts';
import { type Library, member } from './declare.ts';
import type { Overload } from '../values/overload.ts';
import { labelProblems, subdomainProblems } from './name-formats.ts';

/** What an expression asks an authorizer; empty strings mean that the expression does not say. */
export type AuthorizationRequest =
  | { readonly kind: 'path'; readonly path: string; readonly verb: string }
  | {
      readonly kind: 'resource';
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      readonly fieldSelector: string;
      readonly labelSelector: string;
      readonly verb: string;
    };

export interface AuthorizationDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** Set if the authorizer failed. */
  readonly error?: string;
}

/**
 * The host's authorizer. It answers immediately; one that has to ask elsewhere throws `EvaluationInterrupted`, asks, and
 * repeats the evaluation with the decision at hand.
 */
export interface Authorizer {
  readonly authorize: (request: AuthorizationRequest) => AuthorizationDecision;
  /** The same for a service account instead of the user of the request. */
  readonly serviceAccount: (namespace: string, name: string) => Authorizer;
}

const typed = (name: string): Type => structOf(`kubernetes.authorization.${name}`);
export const AUTHORIZER_TYPE = typed('Authorizer');
const PATH_CHECK = typed('PathCheck');
const GROUP_CHECK = typed('GroupCheck');
export const RESOURCE_CHECK_TYPE = typed('ResourceCheck');
const DECISION = typed('Decision');

/** Compared by identity only: upstream has no equality of these values either. */
abstract class AuthorizationValue extends CelObject implements SelfEqual, UnitEquality {
  readonly hasUnitEquality = true;
  equals(other: Value): boolean | CelError {
    return other instanceof CelError ? other : NO_SUCH_OVERLOAD;
  }
}

export class CelAuthorizer extends AuthorizationValue {
  readonly type = AUTHORIZER_TYPE;
  readonly authorizer: Authorizer;
  constructor(authorizer: Authorizer) {
    super();
    this.authorizer = authorizer;
  }
}

class PathCheck extends AuthorizationValue {
  readonly type = PATH_CHECK;
  readonly authorizer: Authorizer;
  readonly path: string;
  constructor(authorizer: Authorizer, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck extends AuthorizationValue {
  readonly type = GROUP_CHECK;
  readonly authorizer: Authorizer;
  readonly group: string;
  constructor(authorizer: Authorizer, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

type ResourceAttributes = Omit<AuthorizationRequest & { kind: 'resource' }, 'kind' | 'verb'>;

/** Also the variable `authorizer.requestResource` of policies. */
export class CelResourceCheck extends AuthorizationValue {
  readonly type = RESOURCE_CHECK_TYPE;
  readonly authorizer: Authorizer;
  readonly attributes: ResourceAttributes;
  constructor(authorizer: Authorizer, attributes: ResourceAttributes) {
    super();
    this.authorizer = authorizer;
    this.attributes = attributes;
  }
  with(change: Partial<ResourceAttributes>): CelResourceCheck {
    return new CelResourceCheck(this.authorizer, { ...this.attributes, ...change });
  }
}

class Decision extends AuthorizationValue {
  readonly type = DECISION;
  readonly decision: AuthorizationDecision;
  constructor(decision: AuthorizationDecision) {
    super();
    this.decision = decision;
  }
}

const NOTHING: Omit<ResourceAttributes, 'group' | 'resource'> = {
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
};

const path = ({ authorizer }: CelAuthorizer, written: string): Value =>
  goTrim(written) === '' ? error('path must not be empty') : new PathCheck(authorizer, written);
const resource = ({ authorizer, group }: GroupCheck, written: string): Value =>
  goTrim(written) === ''
    ? error('resource must not be empty')
    : new CelResourceCheck(authorizer, { ...NOTHING, group, resource: written });
const serviceAccount = ({ authorizer }: CelAuthorizer, namespace: string, name: string): Value => {
  if (subdomainProblems(name).length > 0) return error('Invalid service account name');
  if (labelProblems(namespace).length > 0) return error('Invalid service account namespace');
  return new CelAuthorizer(authorizer.serviceAccount(namespace, name));
};

const narrow = (fn: keyof ResourceAttributes, id: string): Overload =>
  member(
    [fn, id, [RESOURCE_CHECK_TYPE, STRING], RESOURCE_CHECK_TYPE],
    (check: CelResourceCheck, value: string) => check.with({ [fn]: value }),
  );

const outcome = (fn: string, result: Type, read: (decision: AuthorizationDecision) => Value): Overload =>
  member([fn, `decision_${fn}`, [DECISION], result], ({ decision }: Decision) => read(decision));

/** Authorization checks, by an authorizer that the host provides. */
export const KUBERNETES_AUTHZ: Library = {
  name: 'kubernetes.authz',
  overloads: [
    member(['path', 'authorizer_path', [AUTHORIZER_TYPE, STRING], PATH_CHECK], path),
    member(
      ['group', 'authorizer_group', [AUTHORIZER_TYPE, STRING], GROUP_CHECK],
      ({ authorizer }: CelAuthorizer, group: string) => new GroupCheck(authorizer, group),
    ),
    member(
      ['serviceAccount', 'authorizer_serviceaccount', [AUTHORIZER_TYPE, STRING, STRING], AUTHORIZER_TYPE],
      serviceAccount,
    ),
    member(['resource', 'groupcheck_resource', [GROUP_CHECK, STRING], RESOURCE_CHECK_TYPE], resource),
    narrow('subresource', 'resourcecheck_subresource'),
    narrow('namespace', 'resourcecheck_namespace'),
    narrow('name', 'resourcecheck_name'),
    member(
      ['check', 'pathcheck_check', [PATH_CHECK, STRING], DECISION],
      (check: PathCheck, verb: string) =>
        new Decision(check.authorizer.authorize({ kind: 'path', path: check.path, verb })),
    ),
    member(
      ['check', 'resourcecheck_check', [RESOURCE_CHECK_TYPE, STRING], DECISION],
      ({ authorizer, attributes }: CelResourceCheck, verb: string) =>
        new Decision(authorizer.authorize({ kind: 'resource', ...attributes, verb })),
    ),
    outcome('errored', BOOL, (decision) => decision.error !== undefined),
    outcome('error', STRING, (decision) => decision.error ?? ''),
    outcome('allowed', BOOL, ({ allowed }) => allowed),
    outcome('reason', STRING, ({ reason }) => reason),
  ],
};

/** Authorization by selectors. */
export const KUBERNETES_AUTHZ_SELECTORS: Library = {
  name: 'kubernetes.authzSelectors',
  overloads: [
    narrow('fieldSelector', 'authorizer_fieldselector'),
    narrow('labelSelector', 'authorizer_labelselector'),
  ],
};
