import { duplicates, labels, oneOf, supportedOnly } from '../checks.ts';
import type { FieldError } from '../../field/field-error.ts';
import { duplicate, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index } from '../../field/field-path.ts';
import { isQualifiedName, nameIsDnsSubdomain } from '../../field/formats.ts';
import { byteLength } from '../../field/go-text.ts';
import { objectMeta, objectMetaUpdate } from '../object-meta.ts';
import type { Obj } from '../read.ts';
import { has, maybeObj, obj, objs, sameValue, str, strs } from '../read.ts';
import type { KindRules } from '../rules.ts';
import {
  FAILURE_POLICIES,
  matchConditions,
  matchResources,
  paramKind,
  paramRef,
  REINVOCATION_POLICIES,
} from './admission-matching.ts';

/** Policies in CEL. That expressions compile is checked by the server that runs them. */

const META = { namespaced: false, name: nameIsDnsSubdomain, allowsBareFinalizers: true };
const MUTATING_OPERATIONS = ['*', 'CONNECT', 'CREATE', 'UPDATE'];
const REASONS = ['Forbidden', 'Invalid', 'RequestEntityTooLarge'];
const ACTIONS = ['Audit', 'Deny', 'Warn'];
const PATCH_TYPES = ['ApplyConfiguration', 'JSONPatch'];
const AUDIT_ANNOTATIONS_MAX = 20;
const AUDIT_EXPRESSION_BYTES_MAX = 5 * 1_024;
const CEL_IDENTIFIER = /^[_a-zA-Z][_a-zA-Z0-9]*$/;
/** The words of CEL's grammar. */
const CEL_RESERVED: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

function variable(path: FieldPath, of: Obj): FieldError[] {
  const name = str(of, 'name');
  const isIdentifier = CEL_IDENTIFIER.test(name) && !CEL_RESERVED.has(name);
  return [
    ...(name.trim() === ''
      ? [required(child(path, 'name'), 'name is not specified')]
      : isIdentifier
        ? []
        : [invalid(child(path, 'name'), name, 'must be a valid CEL identifier')]),
    ...(str(of, 'expression').trim() === ''
      ? [required(child(path, 'expression'), 'expression is not specified')]
      : []),
  ];
}

function validation(path: FieldPath, of: Obj): FieldError[] {
  const message = str(of, 'message');
  const messageExpression = str(of, 'messageExpression');
  const isBlank = (text: string): boolean => text !== '' && text.trim() === '';
  return [
    ...(str(of, 'expression').trim() === ''
      ? [required(child(path, 'expression'), 'expression is not specified')]
      : []),
    ...(isBlank(messageExpression)
      ? [invalid(child(path, 'messageExpression'), messageExpression, 'must be non-empty if specified')]
      : []),
    ...(isBlank(message)
      ? [invalid(child(path, 'message'), message, 'must be non-empty if specified')]
      : /[\n\r]/.test(message.trim())
        ? [invalid(child(path, 'message'), message, 'must not contain line breaks')]
        : []),
    ...(has(of, 'reason') ? supportedOnly(child(path, 'reason'), str(of, 'reason'), REASONS) : []),
  ];
}

function auditAnnotation(path: FieldPath, of: Obj, policyName: string): FieldError[] {
  const key = str(of, 'key');
  const expression = str(of, 'valueExpression').trim();
  const at = child(path, 'valueExpression');
  return [
    ...(policyName === ''
      ? [invalid(child(path, 'key'), key, 'requires metadata.name be non-empty')]
      : isQualifiedName(`${policyName}/${key}`).map((message) =>
          invalid(child(path, 'key'), `${policyName}/${key}`, message),
        )),
    ...(expression === ''
      ? [required(at, 'valueExpression is not specified')]
      : byteLength(expression) > AUDIT_EXPRESSION_BYTES_MAX
        ? [required(at, `must not exceed ${AUDIT_EXPRESSION_BYTES_MAX} bytes in length`)]
        : []),
  ];
}

const ONE_OF_TWO = 'validations or auditAnnotations must contain at least one item';

function outcomes(policy: Obj, spec: Obj): FieldError[] {
  const validations = objs(spec, 'validations');
  const annotations = objs(spec, 'auditAnnotations');
  if (validations.length === 0 && annotations.length === 0)
    return [required('spec.validations', ONE_OF_TWO), required('spec.auditAnnotations', ONE_OF_TWO)];
  const at = (i: number): FieldPath => index('spec.auditAnnotations', i);
  const policyName = str(obj(policy, 'metadata'), 'name');
  const keys = annotations.map((annotation) => str(annotation, 'key'));
  return [
    ...validations.flatMap((of, i) => validation(index('spec.validations', i), of)),
    ...(annotations.length > AUDIT_ANNOTATIONS_MAX
      ? [
          invalid(
            'spec.auditAnnotations',
            annotations,
            `must not have more than ${AUDIT_ANNOTATIONS_MAX} auditAnnotations`,
          ),
        ]
      : []),
    ...annotations.flatMap((of, i) => auditAnnotation(at(i), of, policyName)),
    ...duplicates(keys, (i) => child(at(i), 'key'), duplicate),
  ];
}

/** What both kinds of policies begin with. */
function policyHead(spec: Obj, ignoresMatchConditions: boolean): FieldError[] {
  const constraints = maybeObj(spec, 'matchConstraints');
  const params = maybeObj(spec, 'paramKind');
  return [
    ...oneOf('spec.failurePolicy', str(spec, 'failurePolicy'), FAILURE_POLICIES),
    ...(params === undefined ? [] : paramKind('spec.paramKind', params)),
    ...(constraints === undefined
      ? [required('spec.matchConstraints')]
      : matchResources('spec.matchConstraints', constraints)),
    ...(constraints !== undefined && objs(constraints, 'resourceRules').length === 0
      ? [required('spec.matchConstraints.resourceRules')]
      : []),
    ...(ignoresMatchConditions ? [] : matchConditions('spec.matchConditions', objs(spec, 'matchConditions'))),
    ...objs(spec, 'variables').flatMap((of, i) => variable(index('spec.variables', i), of)),
  ];
}

/** Conditions that nothing could have made wrong since they were stored are left alone. */
const keepsMatchConditions = (policy: Obj, before: Obj): boolean =>
  ['paramKind', 'matchConditions'].every((name) =>
    sameValue(obj(policy, 'spec')[name], obj(before, 'spec')[name]),
  );

function validatingPolicy(policy: Obj, ignoresMatchConditions: boolean): FieldError[] {
  const spec = obj(policy, 'spec');
  return [
    ...objectMeta(policy, META),
    ...policyHead(spec, ignoresMatchConditions),
    ...outcomes(policy, spec),
  ];
}

const CONDITION_STATUSES = ['False', 'True', 'Unknown'];

function policyStatus(policy: Obj): FieldError[] {
  const status = obj(policy, 'status');
  const warnings = objs(obj(status, 'typeChecking'), 'expressionWarnings');
  return [
    ...warnings.flatMap((warning, i) =>
      ['warning', 'fieldRef'].flatMap((name) =>
        str(warning, name).trim() === ''
          ? [required(child(index('status.typeChecking.expressionWarnings', i), name))]
          : [],
      ),
    ),
    ...objs(status, 'conditions').flatMap((condition, i) => {
      const at = index('status.conditions', i);
      return [
        ...(str(condition, 'type') === ''
          ? [required(child(at, 'type'), 'must be set')]
          : labels(child(at, 'type'), { [str(condition, 'type')]: '' })),
        ...(CONDITION_STATUSES.includes(str(condition, 'status'))
          ? []
          : [notSupported(child(at, 'status'), str(condition, 'status'), CONDITION_STATUSES)]),
        ...(str(condition, 'reason') === '' ? [required(child(at, 'reason'), 'must be set')] : []),
      ];
    }),
  ];
}

export const ValidatingAdmissionPolicyRules: KindRules = {
  ...META,
  create: (policy) => validatingPolicy(policy, false),
  update: (policy, before) => [
    ...objectMetaUpdate(policy, before),
    ...validatingPolicy(policy, keepsMatchConditions(policy, before)),
  ],
  subresources: {
    status: (policy, before) => [...objectMetaUpdate(policy, before), ...policyStatus(policy)],
  },
};

function mutation(path: FieldPath, of: Obj): FieldError[] {
  const type = str(of, 'patchType');
  if (type === '') return [required(child(path, 'patchType'))];
  if (!PATCH_TYPES.includes(type)) return [notSupported(child(path, 'patchType'), type, PATCH_TYPES)];
  const [own, other] =
    type === 'JSONPatch'
      ? (['jsonPatch', 'applyConfiguration'] as const)
      : (['applyConfiguration', 'jsonPatch'] as const);
  const patch = maybeObj(of, own);
  return [
    ...(patch === undefined
      ? [required(child(path, own), `must be specified when patchType is ${type}`)]
      : str(patch, 'expression').trim() === ''
        ? [required(child(path, own, 'expression'))]
        : []),
    ...(has(of, other)
      ? [invalid(child(path, other), `{${other}}`, `must not be specified when patchType is ${type}`)]
      : []),
  ];
}

function mutatingPolicy(policy: Obj, ignoresMatchConditions: boolean): FieldError[] {
  const spec = obj(policy, 'spec');
  const rules = objs(obj(spec, 'matchConstraints'), 'resourceRules');
  const mutations = objs(spec, 'mutations');
  return [
    ...objectMeta(policy, META),
    ...policyHead(spec, ignoresMatchConditions),
    ...rules.flatMap((rule) =>
      strs(rule, 'operations').flatMap((operation) =>
        supportedOnly('spec.matchConstraints.resourceRules.operations', operation, MUTATING_OPERATIONS),
      ),
    ),
    ...(mutations.length === 0
      ? [required('spec.mutations', 'mutations must contain at least one item')]
      : []),
    ...mutations.flatMap((of, i) => mutation(index('spec.mutations', i), of)),
    ...oneOf('spec.reinvocationPolicy', str(spec, 'reinvocationPolicy'), REINVOCATION_POLICIES),
  ];
}

export const MutatingAdmissionPolicyRules: KindRules = {
  ...META,
  create: (policy) => mutatingPolicy(policy, false),
  update: (policy, before) => [
    ...objectMetaUpdate(policy, before),
    ...mutatingPolicy(policy, keepsMatchConditions(policy, before)),
  ],
};

function actions(values: readonly string[]): FieldError[] {
  const path = 'spec.validationActions';
  return [
    ...values.flatMap((action, i) => supportedOnly(index(path, i), action, ACTIONS)),
    ...duplicates(values, (i) => index(path, i), duplicate),
    ...(values.includes('Deny') && values.includes('Warn')
      ? [
          invalid(
            path,
            values,
            'must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)',
          ),
        ]
      : []),
    ...(values.length === 0 ? [required(path, 'at least one validation action is required')] : []),
  ];
}

function binding(object: Obj, hasActions: boolean): FieldError[] {
  const spec = obj(object, 'spec');
  const policyName = str(spec, 'policyName');
  return [
    ...objectMeta(object, META),
    ...(policyName === ''
      ? [required('spec.policyName')]
      : nameIsDnsSubdomain(policyName, false).map((message) =>
          invalid('spec.policyName', policyName, message),
        )),
    ...paramRef('spec.paramRef', maybeObj(spec, 'paramRef')),
    ...matchResources('spec.matchResources', maybeObj(spec, 'matchResources')),
    ...(hasActions ? actions(strs(spec, 'validationActions')) : []),
  ];
}

const bindingRules = (hasActions: boolean): KindRules => ({
  ...META,
  create: (object) => binding(object, hasActions),
  update: (object, before) => [...objectMetaUpdate(object, before), ...binding(object, hasActions)],
});

export const ValidatingAdmissionPolicyBindingRules = bindingRules(true);
export const MutatingAdmissionPolicyBindingRules = bindingRules(false);
