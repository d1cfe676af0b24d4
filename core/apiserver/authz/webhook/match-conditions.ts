import { child, index, type FieldPath } from '../../../api/field/field-path.ts';
import {
  duplicate,
  invalid,
  required,
  tooMany,
  type FieldError,
  type FieldErrorList,
} from '../../../api/field/field-error.ts';
import type * as celModule from '../../../cel/index.ts';
import type { Environment, Program, StructTypes } from '../../../cel/index.ts';
import type { ReviewSpec } from './subject-access-review.ts';

const CONDITIONS_MAX = 64;

/** Whether a request concerns a webhook. Throws one line for a condition that cannot be evaluated. */
export type Matches = (spec: ReviewSpec) => boolean;

type Type = Program['resultType'];

/** The object types of `request`, as upstream declares them. */
const requestEnvironment = ({ createEnvironment, types }: typeof celModule): Environment => {
  const texts = types.listOf(types.STRING);
  const struct = (name: string): Type => types.structOf(`kubernetes.${name}`);
  const names = ['namespace', 'verb', 'group', 'version', 'resource', 'subresource', 'name'];
  const selector = { rawSelector: types.STRING, requirements: types.listOf(struct('SelectorRequirement')) };
  const fields: Readonly<Record<string, Readonly<Record<string, Type>>>> = {
    SelectorRequirement: { key: types.STRING, operator: types.STRING, values: texts },
    FieldSelectorAttributes: selector,
    LabelSelectorAttributes: selector,
    ResourceAttributes: {
      ...Object.fromEntries(names.map((name) => [name, types.STRING])),
      fieldSelector: struct('FieldSelectorAttributes'),
      labelSelector: struct('LabelSelectorAttributes'),
    },
    NonResourceAttributes: { path: types.STRING, verb: types.STRING },
    SubjectAccessReviewSpec: {
      resourceAttributes: struct('ResourceAttributes'),
      nonResourceAttributes: struct('NonResourceAttributes'),
      user: types.STRING,
      groups: texts,
      extra: types.mapOf(types.STRING, texts),
      uid: types.STRING,
    },
  };
  const structs: StructTypes = (name) => {
    const own = fields[name.replace(/^kubernetes\./, '')];
    return own && { type: types.structOf(name), field: (field) => own[field] };
  };
  const variables = { request: struct('SubjectAccessReviewSpec') };
  return createEnvironment({ version: 'stored', variables, structs });
};

const matchesAll =
  (programs: readonly Program[]): Matches =>
  (spec) => {
    const failures: string[] = [];
    for (const program of programs) {
      const result = program.evaluate({ request: spec });
      if (!result.ok)
        failures.push(
          `cel evaluation error: expression '${program.text}' resulted in error: ${result.error}`,
        );
      // A condition that excludes the request settles it, whatever failed before.
      else if (result.value !== true) return false;
    }
    if (failures.length > 0) throw new Error(failures.join(', '));
    return true;
  };

const always: Matches = () => true;

/** Checks conditions by upstream's rules. CEL is loaded only where there are any. */
export const compileMatchConditions = async (
  expressions: readonly string[],
  path: FieldPath,
): Promise<{ readonly matches: Matches; readonly errors: FieldErrorList }> => {
  const where = child(path, 'matchConditions');
  if (expressions.length === 0) return { matches: always, errors: [] };
  if (expressions.length > CONDITIONS_MAX)
    return { matches: always, errors: [tooMany(where, expressions.length, CONDITIONS_MAX)] };
  const cel = await import('../../../cel/index.ts');
  const environment = requestEnvironment(cel);
  const errors: FieldError[] = [];
  const programs: Program[] = [];
  for (const [at, expression] of expressions.entries()) {
    const field = child(index(where, at), 'expression');
    const compiled = environment.compile(expression);
    if (expression.trim() === '') errors.push(required(field));
    else if (expressions.indexOf(expression) < at) errors.push(duplicate(field, expression));
    else if (!compiled.ok) errors.push(invalid(field, expression, `compilation failed: ${compiled.text}`));
    else if (compiled.program.resultType.kind !== 'bool') {
      const actual = cel.types.formatType(compiled.program.resultType);
      errors.push(invalid(field, expression, `must evaluate to bool but got ${actual}`));
    } else programs.push(compiled.program);
  }
  return { matches: matchesAll(programs), errors };
};
