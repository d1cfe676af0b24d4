import { objs, str } from '../../../api/validation/read.ts';
import type { Environment, StructTypes, Version } from '../../../cel/index.ts';
import type { Cel } from '../expressions/cel.ts';
import { compileAll, compileExpression, type CompiledExpression } from '../expressions/compile.ts';
import { admissionEnvironment, type Declared } from '../expressions/declarations.ts';
import type { MatchCondition } from '../expressions/match-conditions.ts';
import type { Named, Policy } from './policy.ts';

type Type = ReturnType<Cel['types']['listOf']>;

/** The expressions of a policy that both kinds have, and environments for the rest. */
export interface CompiledHead {
  readonly conditions: readonly MatchCondition[];
  readonly variables: ReadonlyMap<string, CompiledExpression>;
  /** With the variables, and with or without the authorizer. */
  environment(hasAuthorizer: boolean, patchTypes?: { readonly structs: StructTypes }): Environment;
}

const PLAIN_KINDS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'int',
  'null',
  'string',
  'timestamp',
  'uint',
]);

/** The type that later expressions see a variable as: what is not plain is dynamic, as upstream has it. */
const declaredAs = (types: Cel['types'], type: Type): Type => {
  const [first, second] = type.parameters;
  if (type.kind === 'list' && first) return types.listOf(declaredAs(types, first));
  if (type.kind === 'map' && first && second)
    return types.mapOf(declaredAs(types, first), declaredAs(types, second));
  return PLAIN_KINDS.has(type.kind) ? type : types.DYN;
};

/** Variables in their order, each seeing those before it; then the conditions. */
export const compileHead = async (
  cel: Cel,
  version: Version,
  { paramKind, variables, conditions }: Pick<Policy, 'paramKind' | 'variables' | 'conditions'>,
  types: Declared['types'] = {},
): Promise<CompiledHead> => {
  const hasParams = paramKind !== undefined;
  const declared = new Map<string, Type>();
  const environment: CompiledHead['environment'] = (hasAuthorizer, patchTypes) =>
    admissionEnvironment(cel, version, {
      hasParams,
      hasAuthorizer,
      types,
      variables: declared,
      ...(patchTypes && { patchTypes }),
    });
  const full = environment(true);
  const compiled = new Map<string, CompiledExpression>();
  await compileAll(variables, ({ name, expression }) => {
    const variable = compileExpression(cel, full, expression);
    declared.set(name, variable.program ? declaredAs(cel.types, variable.program.resultType) : cel.types.DYN);
    compiled.set(name, variable);
  });
  const condition = ({ name, expression }: Named): MatchCondition => ({
    name,
    expression: compileExpression(cel, full, expression, [cel.types.BOOL]),
  });
  return { conditions: await compileAll(conditions, condition), variables: compiled, environment };
};

/** One validation of a policy. */
export interface CompiledValidation {
  readonly expression: CompiledExpression;
  readonly messageExpression: CompiledExpression | undefined;
  readonly message: string;
  readonly reason: string;
}

export interface CompiledAnnotation {
  readonly key: string;
  readonly expression: CompiledExpression;
}

export interface CompiledValidatingPolicy {
  readonly head: CompiledHead;
  readonly validations: readonly CompiledValidation[];
  readonly annotations: readonly CompiledAnnotation[];
}

export const compileValidatingPolicy = async (
  cel: Cel,
  policy: Pick<Policy, 'paramKind' | 'variables' | 'conditions' | 'spec'>,
  version: Version = 'stored',
): Promise<CompiledValidatingPolicy> => {
  const { BOOL, STRING, NULL } = cel.types;
  const head = await compileHead(cel, version, policy);
  const [full, withoutAuthorizer] = [head.environment(true), head.environment(false)];
  return {
    head,
    validations: await compileAll(objs(policy.spec, 'validations'), (validation) => {
      const messageExpression = str(validation, 'messageExpression');
      return {
        expression: compileExpression(cel, full, str(validation, 'expression'), [BOOL]),
        messageExpression:
          messageExpression === ''
            ? undefined
            : compileExpression(cel, withoutAuthorizer, messageExpression, [STRING]),
        message: str(validation, 'message').trim(),
        reason: str(validation, 'reason'),
      };
    }),
    annotations: await compileAll(objs(policy.spec, 'auditAnnotations'), (annotation) => ({
      key: str(annotation, 'key'),
      expression: compileExpression(cel, full, str(annotation, 'valueExpression'), [STRING, NULL]),
    })),
  };
};
