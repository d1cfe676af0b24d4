import { jsonText } from '../../../api/meta/json-text.ts';
import { goQuote } from '../../../api/field/go-text.ts';
import { sameValue } from '../../../api/validation/read.ts';
import type { JsonSchema } from '../structural/json-schema.ts';
import { isMap, type JsonMap } from '../structural/structural.ts';
import type { Correlated } from './correlate.ts';
import { effectiveFormat, isOfFormat } from './formats.ts';
import { compilePattern, isPatternKnown } from './regex.ts';
import type { SchemaError } from './schema-error.ts';

/** Parts of a schema held against parts of one object: far beyond any real one, and less than a second. */
const STEPS_MAX = 2_000_000;

/** What other work counts as, measured: a step takes about half a microsecond. */
const STEPS_PER_PATTERN_CHARACTER = 20;
const INSTRUCTIONS_PER_STEP = 40;
const ENUM_VALUES_PER_STEP = 10;

interface Work {
  steps: number;
}

class TooMuchWork extends Error {}

/** Before the work is done. */
const spend = (work: Work, steps: number): void => {
  work.steps += steps;
  if (work.steps > STEPS_MAX) throw new TooMuchWork();
};

/** Errors of a value with a measure of how much of it fits, by which the nearest of several alternatives is chosen. */
class Result {
  readonly errors: SchemaError[] = [];
  matches = 0;
  readonly work: Work;

  constructor(work: Work) {
    this.work = work;
  }

  merge(other: Result): void {
    this.errors.push(...other.errors);
    this.matches += other.matches;
  }
}

const INT32_MAX = 2_147_483_647;
const FLOAT32_MAX = 3.4028234663852886e38;

const typeOfValue = (value: unknown): string => {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'bigint') return 'integer';
  if (typeof value === 'number') return isJsonInteger(value) ? 'integer' : 'number';
  return typeof value === 'string' || typeof value === 'boolean' ? typeof value : 'object';
};

/** Go reads other numbers as float64, of which only those that JSON holds exactly count as integers. */
const isJsonInteger = Number.isSafeInteger;

/** What kube-openapi names a value by where the schema has a format. */
const formatOfValue = (value: unknown): string =>
  typeof value === 'bigint' ? 'int64' : typeof value === 'number' ? 'float64' : '';

/** One part of a schema, ready to be held against values. */
class ValueValidator {
  readonly #schema: JsonSchema;
  readonly #types: readonly string[];
  readonly #typesText: string;
  readonly #format: string;
  readonly #properties: readonly (readonly [string, ValueValidator])[];
  readonly #values: ValueValidator | undefined;
  readonly #forbidsOthers: boolean;
  readonly #items: ValueValidator | undefined;
  readonly #allOf: readonly ValueValidator[];
  readonly #anyOf: readonly ValueValidator[];
  readonly #oneOf: readonly ValueValidator[];
  readonly #not: ValueValidator | undefined;
  readonly #hasJunctors: boolean;

  constructor(schema: JsonSchema) {
    this.#schema = schema;
    const { type = '', additionalProperties } = schema;
    this.#types =
      schema['x-kubernetes-int-or-string'] === true ? ['integer', 'string'] : type === '' ? [] : [type];
    this.#typesText = this.#types.join(',');
    this.#format = effectiveFormat(this.#types.length === 1 ? type : '', schema.format ?? '');
    this.#properties = Object.entries(schema.properties ?? {}).map(([name, inside]) => [
      name,
      new ValueValidator(inside),
    ]);
    this.#values =
      typeof additionalProperties === 'object' ? new ValueValidator(additionalProperties) : undefined;
    this.#forbidsOthers = additionalProperties === false;
    this.#items = schema.items && new ValueValidator(schema.items);
    const all = (parts: readonly JsonSchema[] = []): readonly ValueValidator[] =>
      parts.map((part) => new ValueValidator(part));
    this.#allOf = all(schema.allOf);
    this.#anyOf = all(schema.anyOf);
    this.#oneOf = all(schema.oneOf);
    this.#not = schema.not && new ValueValidator(schema.not);
    this.#hasJunctors =
      this.#not !== undefined || this.#allOf.length + this.#anyOf.length + this.#oneOf.length > 0;
  }

  /** `correlated` holds the value that is replaced: what is wrong with an unchanged one is passed over. */
  validate(value: unknown, path: string, correlated: Correlated | undefined, result: Result): void {
    spend(result.work, 1);
    const { errors } = result;
    const before = errors.length;
    this.#type(value, path, result);
    if (value === null) {
      this.#enum(value, path, result);
    } else {
      result.matches += 2;
      if (this.#hasJunctors) this.#junctors(value, path, correlated, result);
      if (typeof value === 'string') this.#string(value, path, result);
      else if (typeof value === 'number' || typeof value === 'bigint') this.#number(value, path, result);
      else if (Array.isArray(value)) this.#list(value, path, correlated, result);
      this.#enum(value, path, result);
      if (isMap(value)) this.#object(value, path, correlated, result);
    }
    result.matches += 1;
    if (errors.length > before && correlated?.isUnchanged === true) errors.length = before;
  }

  #type(value: unknown, path: string, result: Result): void {
    const types = this.#types;
    if (types.length === 0) return;
    if (value === null) {
      if (this.#schema.nullable !== true) result.errors.push(typeError(path, this.#typesText, 'null'));
      return;
    }
    const actual = typeOfValue(value);
    const fits = types.includes(actual) || (actual === 'integer' && types.includes('number'));
    if (fits) return;
    const hasFormat = this.#format !== '' && actual !== 'string' && actual !== 'array';
    const format = formatOfValue(value);
    if (hasFormat && format !== this.#format) {
      result.errors.push(typeError(path, this.#format, format));
      return;
    }
    const isText = actual === 'string' || actual === 'array';
    const isNumeric = types.includes('number') || types.includes('integer');
    if (!isNumeric && this.#format !== '' && isText) return;
    result.errors.push(typeError(path, this.#typesText, actual));
  }

  #enum(value: unknown, path: string, result: Result): void {
    const { enum: allowed } = this.#schema;
    if (allowed === undefined || allowed.length === 0) return;
    spend(result.work, allowed.length / ENUM_VALUES_PER_STEP);
    if (allowed.some((one) => one !== null && sameValue(one, value))) return;
    result.errors.push({ code: 'enum', path, message: '', value, allowed });
  }

  #string(value: string, path: string, result: Result): void {
    const { maxLength, minLength, pattern = '' } = this.#schema;
    const bound = (): number => [...value].length;
    if (maxLength !== undefined && value.length > maxLength && bound() > maxLength)
      result.errors.push({ code: 'too-long', path, message: '', value, limit: maxLength });
    else if (minLength !== undefined && bound() < minLength)
      result.errors.push(other(path, value, `should be at least ${minLength} chars long`));
    else if (pattern !== '') this.#pattern(pattern, value, path, result);
    if (this.#format !== '' && !isOfFormat(this.#format, value))
      result.errors.push({
        code: 'type',
        path,
        value,
        message: `${path} in body must be of type ${this.#format}: ${goQuote(value)}`,
      });
  }

  #pattern(pattern: string, value: string, path: string, result: Result): void {
    if (!isPatternKnown(pattern)) spend(result.work, pattern.length * STEPS_PER_PATTERN_CHARACTER);
    const regex = compilePattern(pattern);
    if ('problem' in regex) {
      result.errors.push(
        other(path, value, `should match '${pattern}, but pattern is invalid: ${regex.problem}'`),
      );
      return;
    }
    spend(result.work, value.length * (1 + regex.size / INSTRUCTIONS_PER_STEP));
    if (!regex.test(value)) result.errors.push(other(path, value, `should match '${pattern}'`));
  }

  #number(value: number | bigint, path: string, result: Result): void {
    const { multipleOf, maximum, minimum, exclusiveMaximum = false, exclusiveMinimum = false } = this.#schema;
    const isFixed = this.#types.length === 1;
    const type = isFixed ? this.#types[0]! : '';
    const format = isFixed ? this.#format : '';
    if (!isInRange(value, type, format))
      result.errors.push({
        code: 'composite',
        path,
        message:
          format === ''
            ? `Checked value must be of type ${type} (default format) in ${path}`
            : `Checked value must be of type ${type} with format ${format} in ${path}`,
      });
    if (multipleOf !== undefined) {
      if (multipleOf <= 0)
        result.errors.push({
          code: 'other',
          path,
          value: multipleOf,
          message: `factor MultipleOf declared for ${path} must be positive: ${multipleOf}`,
        });
      else if (!Number.isInteger(Number(value) / multipleOf))
        result.errors.push(other(path, value, `should be a multiple of ${multipleOf}`));
    }
    if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum))
      result.errors.push(
        other(path, value, `should be greater than ${exclusiveMinimum ? '' : 'or equal to '}${minimum}`),
      );
    if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum))
      result.errors.push(
        other(path, value, `should be less than ${exclusiveMaximum ? '' : 'or equal to '}${maximum}`),
      );
  }

  #list(value: readonly unknown[], path: string, correlated: Correlated | undefined, result: Result): void {
    const { minItems, maxItems, uniqueItems } = this.#schema;
    if (this.#items)
      for (let at = 0; at < value.length; at += 1)
        this.#items.validate(value[at], `${path}[${at}]`, correlated?.item(at), result);
    if (minItems !== undefined && value.length < minItems)
      result.errors.push(other(path, value.length, `should have at least ${minItems} items`));
    if (maxItems !== undefined && value.length > maxItems)
      result.errors.push({ code: 'too-many', path, message: '', value: value.length, limit: maxItems });
    if (uniqueItems === true && new Set(value.map((item) => jsonText(item))).size < value.length)
      result.errors.push(other(path, '', "shouldn't contain duplicates"));
  }

  #object(value: JsonMap, path: string, correlated: Correlated | undefined, result: Result): void {
    const { minProperties, maxProperties, required = [], properties = {} } = this.#schema;
    const names = Object.keys(value);
    if (minProperties !== undefined && names.length < minProperties)
      result.errors.push(other(path, names.length, `should have at least ${minProperties} properties`));
    if (maxProperties !== undefined && names.length > maxProperties)
      result.errors.push({ code: 'too-many', path, message: '', value: names.length, limit: maxProperties });
    if (this.#forbidsOthers) {
      for (const name of names)
        if (!Object.hasOwn(properties, name))
          result.errors.push({
            code: 'other',
            path,
            value: name,
            message: `${path}.${name} in body is a forbidden property`,
          });
    } else if (this.#values)
      for (const name of names)
        if (!Object.hasOwn(properties, name))
          this.#values.validate(value[name], `${path}.${name}`, correlated?.member(name), result);
    for (const [name, property] of this.#properties) {
      if (!Object.hasOwn(value, name)) continue;
      // Kind and version of both objects are those of the request, so a change of them cannot be seen.
      const isTypeMeta = path === '' && (name === 'kind' || name === 'apiVersion');
      const at = path === '' ? name : `${path}.${name}`;
      property.validate(value[name], at, isTypeMeta ? undefined : correlated?.member(name), result);
    }
    for (const name of required)
      if (!Object.hasOwn(value, name))
        result.errors.push({ code: 'required', path: `${path}.${name}`, message: '' });
  }

  #junctors(value: unknown, path: string, correlated: Correlated | undefined, result: Result): void {
    const shown = goQuote(path);
    const composite = (message: string): void => {
      result.errors.push({ code: 'composite', path, message });
    };
    const runOne = (part: ValueValidator, beside: Correlated | undefined): Result => {
      const own = new Result(result.work);
      part.validate(value, path, beside, own);
      return own;
    };
    const run = (parts: readonly ValueValidator[]): readonly Result[] =>
      parts.map((part) => runOne(part, correlated));
    const nearest = (results: readonly Result[]): Result | undefined =>
      results.reduce<Result | undefined>(
        (best, one) => (best === undefined || one.matches > best.matches ? one : best),
        undefined,
      );
    const isValid = (one: Result): boolean => one.errors.length === 0;
    if (this.#anyOf.length > 0) {
      const results = run(this.#anyOf);
      const first = results.find(isValid);
      if (!first) composite(`${shown} must validate at least one schema (anyOf)`);
      result.merge(first ?? nearest(results)!);
    }
    if (this.#oneOf.length > 0) {
      const results = run(this.#oneOf);
      const valid = results.filter(isValid);
      if (valid.length === 1) result.merge(valid[0]!);
      else {
        const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
        composite(`${shown} must validate one and only one schema (oneOf). ${found}`);
        if (valid.length === 0) result.merge(nearest(results)!);
      }
    }
    if (this.#allOf.length > 0) {
      const results = run(this.#allOf);
      for (const one of results) result.merge(one);
      const count = results.filter(isValid).length;
      if (count < results.length)
        composite(`${shown} must validate all the schemas (allOf)${count === 0 ? '. None validated' : ''}`);
    }
    if (this.#not && isValid(runOne(this.#not, undefined)))
      composite(`${shown} must not validate the schema (not)`);
  }
}

const typeError = (path: string, wanted: string, actual: string): SchemaError => ({
  code: 'type',
  path,
  value: actual,
  message: `${path} in body must be of type ${wanted}: ${goQuote(actual)}`,
});

const other = (path: string, value: unknown, what: string): SchemaError => ({
  code: 'other',
  path,
  value,
  message: `${path} in body ${what}`,
});

const isWhole = (value: number | bigint): boolean => typeof value === 'bigint' || Number.isInteger(value);

const isInRange = (value: number | bigint, type: string, format: string): boolean => {
  if (type === 'integer') {
    const max = format === 'int32' ? INT32_MAX : 2 ** 63;
    return isWhole(value) && value <= max && value >= -max - (format === 'int32' ? 1 : 0);
  }
  return format !== 'float' || Math.abs(Number(value)) <= FLOAT32_MAX;
};

/** Holds values against a schema; made once, as schemas are large. */
export type ValidateValue = (value: unknown, correlated?: Correlated) => readonly SchemaError[];

export const compileValidator = (schema: JsonSchema): ValidateValue => {
  const validator = new ValueValidator(schema);
  return (value, correlated) => {
    const result = new Result({ steps: 0 });
    try {
      validator.validate(value, '', correlated, result);
    } catch (error) {
      if (!(error instanceof TooMuchWork)) throw error;
      return [
        { code: 'composite', path: '', message: 'the schema is too expensive for an object of this size' },
      ];
    }
    return result.errors;
  };
};
