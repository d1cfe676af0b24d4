import { createEnvironment, estimateCost } from '../environment.ts';
import { AUTHORIZER_TYPE } from '../library/authorizer.ts';
import { type SchemaType, schemaType } from '../schema/schema-type.ts';
import type { StructuralSchema } from '../schema/structural.ts';
import { DYN, formatType } from '../types/type.ts';
import { showValue } from './conformance.ts';

/**
 * What upstream answers for an expression: issues, or the type, the estimated cost, and the value or failure with its
 * cost. Recorded from kube-apiserver's own environment of 1.36.
 */
export interface Answer {
  readonly issues?: readonly string[];
  readonly program?: string;
  readonly type?: string;
  readonly estimate?: readonly [min: string, max: string];
  readonly value?: string;
  readonly error?: string;
  readonly cost?: number;
}
export interface Case extends Answer {
  readonly expr: string;
}

/** The data that cases refer to. */
export interface Fixture {
  readonly object: unknown;
  readonly schema?: StructuralSchema;
  readonly self?: unknown;
}

/** A list that most syntax errors end with. */
const OPERANDS =
  "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
const abbreviated = (message: string): string => message.replace(OPERANDS, '{operands}');

const sizesOf = (self: SchemaType | undefined) => (path: readonly string[]) =>
  path[0] === 'object' ? undefined : self?.estimateSize(path);

/** Answers cases with data of one fixture. */
export const answerer = ({ object, schema, self }: Fixture): ((expr: string) => Answer) => {
  const selfType = schema === undefined ? undefined : schemaType(schema);
  const environment = createEnvironment({
    version: '1.36',
    variables: {
      object: DYN,
      authorizer: AUTHORIZER_TYPE,
      ...(selfType === undefined ? {} : { self: selfType }),
    },
  });
  return (expr) => {
    const compiled = environment.compile(expr);
    if (!compiled.ok)
      return compiled.reason === 'invalid'
        ? {
            issues: compiled.issues.map(
              ({ location, message }) => `${location.line}:${location.column + 1}: ${abbreviated(message)}`,
            ),
          }
        : { program: compiled.text };
    const { program } = compiled;
    const { min, max } = estimateCost(program, sizesOf(selfType));
    const evaluated = program.evaluate({ object, ...(self === undefined ? {} : { self }) });
    return {
      type: formatType(program.resultType),
      estimate: [String(min), String(max)],
      ...(evaluated.ok ? { value: showValue(evaluated.value) } : { error: evaluated.error }),
      cost: evaluated.cost,
    };
  };
};
