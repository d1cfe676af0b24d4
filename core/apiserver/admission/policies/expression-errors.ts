import { invalid as invalidStatus, type KubernetesObject } from '../../../api/meta/index.ts';
import { causesOf, invalid, type FieldError } from '../../../api/validation/index.ts';
import { sameValue, obj, objs, str, type Obj } from '../../../api/validation/read.ts';
import type { Version } from '../../../cel/index.ts';
import type { AdmissionAttributes } from '../attributes.ts';
import { loadCel, type Cel } from '../expressions/cel.ts';
import { compileAll, compileExpression, type CompiledExpression } from '../expressions/compile.ts';
import { admissionEnvironment } from '../expressions/declarations.ts';
import { compileMutatingPolicy } from './compiled-mutations.ts';
import { compileValidatingPolicy, type CompiledHead } from './compiled-policy.ts';
import { policyOf } from './policy.ts';

const GROUP = 'admissionregistration.k8s.io';

type Check = (cel: Cel, object: KubernetesObject, version: Version) => Promise<FieldError[]>;

const wrong = (path: string, { text, error }: CompiledExpression): FieldError[] =>
  error === '' ? [] : [invalid(path, text, error)];

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

/**
 * That the expressions of configurations and policies compile, with what the version before this one has: a rollback
 * must still be able to run them. Undefined where there is nothing to check.
 */
export const checkExpressions = (
  { kind, subresource, operation, object, oldObject }: AdmissionAttributes,
  minor: number,
): Promise<void> | undefined => {
  const check = kind.group === GROUP && subresource === '' ? CHECKS[kind.kind] : undefined;
  if (!check || !object || (operation !== 'CREATE' && operation !== 'UPDATE')) return undefined;
  if (check === webhookErrors && !hasConditions(object)) return undefined;
  if (oldObject && sameValue(expressionsOf(object), expressionsOf(oldObject))) return undefined;
  return loadCel().then(async (cel) => {
    const errors = await check(cel, object, `1.${minor - 1}`);
    if (errors.length > 0) throw invalidStatus(kind, object.metadata?.name ?? '', causesOf(errors));
  });
};
