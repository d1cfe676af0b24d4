import type { KubernetesObject } from '../../../api/meta/index.ts';
import { invalid, type FieldError, type FieldErrorList } from '../../../api/field/field-error.ts';
import { sameValue, obj, objs, str, type Obj } from '../../../api/validation/read.ts';
import type { Version } from '../../../cel/index.ts';
import { loadCel, type Cel } from '../expressions/cel.ts';
import { compileAll, compileExpression, type CompiledExpression } from '../expressions/compile.ts';
import { admissionEnvironment } from '../expressions/declarations.ts';
import { compileMutatingPolicy } from './compiled-mutations.ts';
import { compileValidatingPolicy, type CompiledHead } from './compiled-policy.ts';
import { policyOf } from './policy.ts';

export interface CheckedObject {
  readonly kind: string;
  readonly object: KubernetesObject;
  readonly before: KubernetesObject | undefined;
}

type Check = (cel: Cel, object: KubernetesObject, version: Version) => Promise<FieldError[]>;

const wrong = (path: string, { text, error }: CompiledExpression): FieldError[] =>
  // That there is none is told by the rules of the kind.
  error === '' || text.trim() === '' ? [] : [invalid(path, text, error)];

const headErrors = ({ conditions, variables }: CompiledHead): FieldError[] => [
  ...conditions.flatMap(({ expression }, at) => wrong(`spec.matchConditions[${at}].expression`, expression)),
  ...[...variables.values()].flatMap((variable, at) => wrong(`spec.variables[${at}].expression`, variable)),
];

const validatingErrors: Check = async (cel, object, version) => {
  const { head, validations, annotations } = await compileValidatingPolicy(cel, policyOf(object), version);
  return [
    ...headErrors(head),
    ...validations.flatMap(({ expression, messageExpression }, at) => [
      ...wrong(`spec.validations[${at}].expression`, expression),
      ...(messageExpression ? wrong(`spec.validations[${at}].messageExpression`, messageExpression) : []),
    ]),
    ...annotations.flatMap(({ expression }, at) =>
      wrong(`spec.auditAnnotations[${at}].valueExpression`, expression),
    ),
  ];
};

const mutatingErrors: Check = async (cel, object, version) => {
  const { head, mutations } = await compileMutatingPolicy(cel, policyOf(object), version);
  return [
    ...headErrors(head),
    ...mutations.flatMap(({ type, expression }, at) => {
      const field = type === 'JSONPatch' ? 'jsonPatch' : 'applyConfiguration';
      return wrong(`spec.mutations[${at}].${field}.expression`, expression);
    }),
  ];
};

const webhookErrors: Check = async (cel, object, version) => {
  const environment = admissionEnvironment(cel, version, { hasParams: false, hasAuthorizer: true });
  const conditions = objs(object, 'webhooks').flatMap((webhook, at) =>
    objs(webhook, 'matchConditions').map((condition, index) => ({
      path: `webhooks[${at}].matchConditions[${index}].expression`,
      expression: str(condition, 'expression'),
    })),
  );
  const errors = await compileAll(conditions, ({ path, expression }) =>
    wrong(path, compileExpression(cel, environment, expression, [cel.types.BOOL])),
  );
  return errors.flat();
};

const CHECKS: Readonly<Record<string, Check>> = {
  ValidatingAdmissionPolicy: validatingErrors,
  MutatingAdmissionPolicy: mutatingErrors,
  ValidatingWebhookConfiguration: webhookErrors,
  MutatingWebhookConfiguration: webhookErrors,
};

const hasConditions = (object: KubernetesObject): boolean =>
  objs(object, 'webhooks').some((webhook) => objs(webhook, 'matchConditions').length > 0);

/** What decides whether expressions are new: those that were stored before stay as they are. */
const expressionsOf = (object: KubernetesObject | undefined): unknown => {
  const spec: Obj = object ? obj(object, 'spec') : {};
  const webhooks = object ? objs(object, 'webhooks') : [];
  return [spec, webhooks.map((webhook) => webhook['matchConditions'] ?? null)];
};

/** Parts of a policy in the order in which upstream validates them; webhooks stand in one list. */
const PARTS = [
  'failurePolicy',
  'paramKind',
  'matchConstraints',
  'matchConditions',
  'variables',
  'validations',
  'auditAnnotations',
  'mutations',
  'reinvocationPolicy',
];
/** Of the members of one item, those that upstream looks at after its expressions. */
const AFTER_EXPRESSION = new Set(['message', 'reason', 'admissionReviewVersions']);

/** Where an error belongs: part, item, and whether it stands before, among or after the expressions of the item. */
const placeOf = ({ field }: FieldError): readonly number[] => {
  const [, part = '', item = '0', member = ''] =
    /^(?:spec\.)?(\w+)(?:\[(\d+)\])?(?:\.(\w+))?/.exec(field) ?? [];
  const rank = member === 'matchConditions' || member === 'name' ? 1 : AFTER_EXPRESSION.has(member) ? 2 : 0;
  return [field.startsWith('webhooks') ? 0 : PARTS.indexOf(part), Number(item), rank];
};

/** One list in upstream's order: what a part lacks beside its expressions that do not compile. */
const merged = (found: FieldErrorList, expressions: FieldErrorList): FieldErrorList => {
  if (found.length === 0 || expressions.length === 0) return [...found, ...expressions];
  const entries = [...expressions, ...found].map((error) => ({ error, place: placeOf(error) }));
  entries.sort(({ place: a }, { place: b }) => a[0]! - b[0]! || a[1]! - b[1]! || a[2]! - b[2]!);
  return entries.map(({ error }) => error);
};

/**
 * Adds to what is wrong with a configuration or policy the expressions that do not compile, with what the version
 * before this one has: a rollback must still be able to run them.
 */
export const checkExpressions = (
  { kind, object, before }: CheckedObject,
  found: FieldErrorList,
  minor: number,
): Promise<FieldErrorList> | FieldErrorList => {
  const check = CHECKS[kind];
  if (!check || (check === webhookErrors && !hasConditions(object))) return found;
  if (before && sameValue(expressionsOf(object), expressionsOf(before))) return found;
  return loadCel().then(async (cel) => merged(found, await check(cel, object, `1.${minor - 1}`)));
};
