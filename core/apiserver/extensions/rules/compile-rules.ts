import {
  createEnvironment,
  estimateCost,
  schemaType,
  types,
  type Environment,
  type Program,
  type SchemaType,
  type StructuralSchema,
  type Version,
} from '../../../cel/index.ts';
import type { Pace } from '../../discovery/openapi/pace.ts';
import type { ValidationRule } from '../structural/json-schema.ts';
import type { Structural } from '../structural/structural.ts';
import { followFieldPath } from './field-path.ts';

export interface CompiledRule {
  readonly rule: ValidationRule;
  /** Absent where the rule does not compile, or is empty. */
  readonly program?: Program;
  readonly problem?: string;
  readonly usesOldSelf: boolean;
  readonly message?: Program;
  readonly messageProblem?: string;
  /** Where errors are told, below the value. */
  readonly fieldPath: string;
  readonly costMax: bigint;
  readonly messageCostMax: bigint;
}

/** Which libraries an expression may use: those of the release, or all, for one that was accepted before. */
export type VersionOf = (expression: string) => Version;

interface Environments {
  readonly plain: Environment;
  readonly optional: Environment;
}

const environmentsOf = (self: SchemaType, version: Version): Environments => ({
  plain: createEnvironment({ version, variables: { self, oldSelf: self } }),
  optional: createEnvironment({ version, variables: { self, oldSelf: self.optional() } }),
});

/** The rules of one part of a schema. Their type is made once, however many there are. */
export class RuleCompiler {
  readonly self: SchemaType | undefined;
  readonly #schema: Structural;
  readonly #versionOf: VersionOf;
  readonly #environments = new Map<Version, Environments>();

  constructor(schema: Structural, isResourceRoot: boolean, versionOf: VersionOf) {
    this.#schema = schema;
    this.#versionOf = versionOf;
    this.self = schemaType(schema.schema as StructuralSchema, { isResourceRoot });
  }

  #environment(expression: string, isOptional: boolean): Environment {
    const version = this.#versionOf(expression);
    let found = this.#environments.get(version);
    if (!found) this.#environments.set(version, (found = environmentsOf(this.self!, version)));
    return isOptional ? found.optional : found.plain;
  }

  async compile(rule: ValidationRule, pace: Pace): Promise<CompiledRule> {
    const none = { rule, usesOldSelf: false, fieldPath: '', costMax: 0n, messageCostMax: 0n };
    if (rule.rule.trim() === '') return none;
    const isOptional = rule.optionalOldSelf === true;
    const environment = this.#environment(rule.rule, isOptional);
    const compiled = await environment.compileInTurns(rule.rule, pace, { expectedType: types.BOOL });
    if (!compiled.ok) {
      const problem =
        compiled.reason === 'invalid'
          ? `compilation failed: ${compiled.text}`
          : compiled.reason === 'unexpected-type'
            ? 'cel expression must evaluate to a bool'
            : `program instantiation failed: ${compiled.text}`;
      return { ...none, problem };
    }
    const { program } = compiled;
    const followed = rule.fieldPath ? followFieldPath(rule.fieldPath, this.#schema) : undefined;
    return {
      ...none,
      program,
      usesOldSelf: program.uses('oldSelf'),
      fieldPath: followed && 'path' in followed ? followed.path : '',
      costMax: estimateCost(program, this.self!.estimateSize).max,
      ...(await this.#message(rule, isOptional, pace)),
    };
  }

  async #message(
    { messageExpression = '' }: ValidationRule,
    isOptional: boolean,
    pace: Pace,
  ): Promise<Partial<Pick<CompiledRule, 'message' | 'messageProblem' | 'messageCostMax'>>> {
    if (messageExpression === '') return {};
    const environment = this.#environment(messageExpression, isOptional);
    const compiled = await environment.compileInTurns(messageExpression, pace, {
      expectedType: types.STRING,
    });
    if (compiled.ok)
      return {
        message: compiled.program,
        messageCostMax: estimateCost(compiled.program, this.self!.estimateSize).max,
      };
    const messageProblem =
      compiled.reason === 'invalid'
        ? `messageExpression compilation failed: ${compiled.text}`
        : compiled.reason === 'unexpected-type'
          ? 'messageExpression must evaluate to a string'
          : `messageExpression instantiation failed: ${compiled.text}`;
    return { messageProblem };
  }
}
