import {
  STATIC_ESTIMATED_COST_LIMIT,
  STATIC_ESTIMATED_CRD_COST_LIMIT,
  type Version,
} from '../../../cel/index.ts';
import { child, index, key } from '../../../api/field/field-path.ts';
import {
  forbidden,
  internalError,
  invalid,
  notSupported,
  required,
  type FieldError,
} from '../../../api/field/field-error.ts';
import type { Pace } from '../../discovery/openapi/pace.ts';
import type { ValidationRule } from '../structural/json-schema.ts';
import type { Structural } from '../structural/structural.ts';
import { RuleCompiler, type CompiledRule } from './compile-rules.ts';
import { followFieldPath } from './field-path.ts';

const REASONS = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];
const RULES = 'x-kubernetes-validations';
const UINT64_MAX = 2n ** 64n - 1n;
const MOST_EXPENSIVE = 4;

const multiply = (a: bigint, b: bigint): bigint => (a * b > UINT64_MAX ? UINT64_MAX : a * b);

const costMessage = (name: string, cost: bigint, limit: bigint): string => {
  const factor = Number(cost) / Number(limit);
  const shown =
    factor > 100 ? 'more than 100x' : factor < 1.5 ? `${factor.toFixed(6)}x` : `${factor.toFixed(1)}x`;
  return `${name} exceeds budget by factor of ${shown} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)`;
};

const hasLineBreak = (text: string): boolean => /[\n\r]/.test(text);

/** What is wrong with the fields of a rule, whatever its expression says. */
const wordingErrors = (path: string, rule: ValidationRule, schema: Structural): FieldError[] => {
  const { message = '', messageExpression = '', fieldPath = '', reason } = rule;
  const [text, said] = [rule.rule.trim(), message.trim()];
  const errors: FieldError[] = [];
  if (text === '') errors.push(required(child(path, 'rule'), 'rule is not specified'));
  else if (message !== '' && said === '')
    errors.push(invalid(child(path, 'message'), message, 'must be non-empty if specified'));
  else if (hasLineBreak(said))
    errors.push(invalid(child(path, 'message'), message, 'must not contain line breaks'));
  else if (hasLineBreak(text) && said === '')
    errors.push(required(child(path, 'message'), 'message must be specified if rule contains line breaks'));
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(
      required(child(path, 'messageExpression'), 'messageExpression must be non-empty if specified'),
    );
  if (reason !== undefined && !REASONS.includes(reason))
    errors.push(notSupported(child(path, 'reason'), reason, REASONS));
  if (fieldPath !== '') {
    const at = child(path, 'fieldPath');
    if (fieldPath.trim() === '') errors.push(invalid(at, fieldPath, 'must be non-empty if specified'));
    if (hasLineBreak(fieldPath)) errors.push(invalid(at, fieldPath, 'must not contain line breaks'));
    if ('problem' in followFieldPath(fieldPath, schema))
      errors.push(invalid(at, fieldPath, 'must be a valid path'));
  }
  return errors;
};

/** How often data of a schema can be there; undefined where nothing bounds it. */
type Cardinality = bigint | undefined;

const elementsMax = ({ schema, type }: Structural): Cardinality => {
  const bounded = (max: number | undefined): Cardinality =>
    max === undefined ? undefined : BigInt(Math.max(0, Math.trunc(max)));
  if (type === 'object')
    return schema.additionalProperties === undefined ? 1n : bounded(schema.maxProperties);
  return type === 'array' ? bounded(schema.maxItems) : 1n;
};

const below = (cardinality: Cardinality, schema: Structural): Cardinality => {
  const max = elementsMax(schema);
  return cardinality === undefined || max === undefined ? undefined : multiply(cardinality, max);
};

interface RuleCost {
  readonly path: string;
  readonly cost: bigint;
}

interface Spot {
  readonly path: string;
  readonly cardinality: Cardinality;
  readonly isRoot: boolean;
  /** The list or map above whose items have no counterpart in an old object. */
  readonly uncorrelatable: string | undefined;
}

class RuleChecker {
  readonly schemaErrors: FieldError[] = [];
  readonly celErrors: FieldError[] = [];
  readonly #pace: Pace;
  readonly #versionOf: (expression: string) => Version;
  #total = 0n;
  #expensive: RuleCost[] = [];

  constructor(pace: Pace, versionOf: (expression: string) => Version) {
    this.#pace = pace;
    this.#versionOf = versionOf;
  }

  get totalErrors(): FieldError[] {
    if (this.#total <= STATIC_ESTIMATED_CRD_COST_LIMIT) return [];
    const errors = this.#expensive.map(({ path }) =>
      forbidden(
        path,
        'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema',
      ),
    );
    return [
      ...errors,
      forbidden(
        this.#rootPath,
        costMessage(
          'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema',
          this.#total,
          STATIC_ESTIMATED_CRD_COST_LIMIT,
        ),
      ),
    ];
  }
  #rootPath = '';

  async check(path: string, schema: Structural): Promise<void> {
    this.#rootPath = path;
    await this.#node(schema, { path, cardinality: 1n, isRoot: true, uncorrelatable: undefined });
  }

  #observe(path: string, cost: bigint): void {
    this.#total = this.#total + cost > UINT64_MAX ? UINT64_MAX : this.#total + cost;
    if (cost < STATIC_ESTIMATED_CRD_COST_LIMIT / 100n) return;
    this.#expensive.push({ path, cost });
    this.#expensive.sort((a, b) => (a.cost < b.cost ? 1 : -1));
    this.#expensive.length = Math.min(this.#expensive.length, MOST_EXPENSIVE);
  }

  async #node(schema: Structural, spot: Spot): Promise<void> {
    const { path, cardinality, uncorrelatable } = spot;
    const next = below(cardinality, schema);
    for (const [name, property] of schema.properties)
      await this.#node(property, {
        path: key(child(path, 'properties'), name),
        cardinality: next,
        isRoot: false,
        uncorrelatable,
      });
    if (schema.values)
      await this.#node(schema.values, {
        path: child(path, 'additionalProperties'),
        cardinality: next,
        isRoot: false,
        uncorrelatable: uncorrelatable ?? (schema.mapType === 'atomic' ? path : undefined),
      });
    if (schema.items)
      await this.#node(schema.items, {
        path: child(path, 'items'),
        cardinality: next,
        isRoot: false,
        uncorrelatable: uncorrelatable ?? (schema.listType === 'map' ? undefined : path),
      });
    await this.#rules(schema, spot);
  }

  async #rules(schema: Structural, spot: Spot): Promise<void> {
    const rules = schema.schema[RULES] ?? [];
    if (rules.length === 0) return;
    const path = child(spot.path, RULES);
    rules.forEach((rule, at) => this.schemaErrors.push(...wordingErrors(index(path, at), rule, schema)));
    if (this.schemaErrors.length > 0) return;
    const compiler = new RuleCompiler(schema, spot.isRoot || schema.isEmbedded, this.#versionOf);
    const { self } = compiler;
    if (!self) {
      this.celErrors.push(
        internalError(
          path,
          'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations',
        ),
      );
      return;
    }
    for (const [at, rule] of rules.entries()) {
      const compiled = await compiler.compile(rule, this.#pace);
      const times = spot.cardinality ?? self.maxCardinality;
      this.#rule(index(path, at), compiled, multiply(compiled.costMax, times), spot);
      const turn = this.#pace();
      if (turn) await turn;
    }
  }

  #rule(path: string, compiled: CompiledRule, cost: bigint, { uncorrelatable }: Spot): void {
    const { rule } = compiled;
    const at = child(path, 'rule');
    const messageAt = child(path, 'messageExpression');
    if (cost > STATIC_ESTIMATED_COST_LIMIT)
      this.celErrors.push(
        forbidden(at, costMessage('estimated rule cost', cost, STATIC_ESTIMATED_COST_LIMIT)),
      );
    this.#observe(at, cost);
    if (compiled.problem !== undefined) this.celErrors.push(invalid(at, goRule(rule), compiled.problem));
    if (compiled.messageProblem !== undefined)
      this.celErrors.push(invalid(messageAt, goRule(rule), compiled.messageProblem));
    else if (compiled.message) {
      if (compiled.messageCostMax > STATIC_ESTIMATED_COST_LIMIT)
        this.celErrors.push(
          forbidden(
            messageAt,
            costMessage(
              'estimated messageExpression cost',
              compiled.messageCostMax,
              STATIC_ESTIMATED_COST_LIMIT,
            ),
          ),
        );
      this.#observe(messageAt, compiled.messageCostMax);
    }
    if (compiled.usesOldSelf) {
      if (uncorrelatable !== undefined)
        this.celErrors.push(
          invalid(
            at,
            rule.rule,
            `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable}`,
          ),
        );
    } else if (rule.optionalOldSelf !== undefined && compiled.program)
      this.celErrors.push(
        invalid(
          child(path, 'optionalOldSelf'),
          rule.optionalOldSelf,
          'may not be set if oldSelf is not used in rule',
        ),
      );
  }
}

/** Go prints the whole rule as JSON, by the names of its fields in Go. */
const goRule = (rule: ValidationRule): unknown => ({
  Rule: rule.rule,
  Message: rule.message ?? '',
  MessageExpression: rule.messageExpression ?? '',
  Reason: rule.reason ?? null,
  FieldPath: rule.fieldPath ?? '',
  OptionalOldSelf: rule.optionalOldSelf ?? null,
});

/** All that is wrong with the rules of one version's schema: wording, types, costs, transitions that cannot be. */
export const ruleErrors = async (
  path: string,
  schema: Structural,
  { pace, versionOf }: { readonly pace: Pace; readonly versionOf: (expression: string) => Version },
): Promise<FieldError[]> => {
  const checker = new RuleChecker(pace, versionOf);
  await checker.check(path, schema);
  return [...checker.schemaErrors, ...checker.celErrors, ...checker.totalErrors];
};
