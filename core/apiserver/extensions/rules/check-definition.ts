import type { Version } from '../../../cel/index.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { child, index } from '../../../api/field/field-path.ts';
import { duplicate, invalid, type FieldError } from '../../../api/field/field-error.ts';
import { maybeObj, obj, objs, sameValue, str, type Obj } from '../../../api/validation/read.ts';
import { createPace, type Pace } from '../../discovery/openapi/pace.ts';
import type { JsonSchema } from '../structural/json-schema.ts';
import { pruneNulls, pruneResource } from '../structural/prune.ts';
import { isMap, Structural } from '../structural/structural.ts';
import { fieldErrorOf } from '../values/schema-error.ts';
import { compilePattern } from '../values/regex.ts';
import { compileValidator } from '../values/validate-value.ts';
import { ruleErrors } from './check-rules.ts';
import { followFieldPath } from './field-path.ts';

const schemaOf = (version: Obj): JsonSchema | undefined =>
  maybeObj(obj(version, 'schema'), 'openAPIV3Schema') as JsonSchema | undefined;

const versionsOf = (definition: KubernetesObject | undefined): readonly Obj[] =>
  objs(obj(definition ?? {}, 'spec'), 'versions');

/** Expressions that were accepted before may use what this release no longer offers to new ones. */
const expressionsIn = (value: unknown, into: Set<string>): void => {
  if (Array.isArray(value)) for (const item of value) expressionsIn(item, into);
  else if (isMap(value))
    for (const [name, inside] of Object.entries(value)) {
      if ((name === 'rule' || name === 'messageExpression') && typeof inside === 'string') into.add(inside);
      else expressionsIn(inside, into);
    }
};

/** A default must be a value of its own schema. */
const defaultErrors = async (path: string, schema: Structural, pace: Pace): Promise<FieldError[]> => {
  if (!schema.hasDefaults) return [];
  const errors: FieldError[] = [];
  const at = child(path, 'default');
  if (schema.default !== undefined) {
    const { default: value } = schema;
    const pruned = isMap(value) && !schema.isEmbedded ? pruneDefault(value, schema) : value;
    if (!sameValue(pruned, value)) errors.push(invalid(at, value, 'must not have unknown fields'));
    errors.push(...compileValidator(schema.schema)(value).map((error) => fieldErrorOf(at, error)));
    const turn = pace();
    if (turn) await turn;
  }
  for (const [name, property] of schema.properties)
    errors.push(...(await defaultErrors(`${child(path, 'properties')}[${name}]`, property, pace)));
  if (schema.values)
    errors.push(...(await defaultErrors(child(path, 'additionalProperties'), schema.values, pace)));
  if (schema.items) errors.push(...(await defaultErrors(child(path, 'items'), schema.items, pace)));
  return errors;
};

const pruneDefault = (value: Record<string, unknown>, schema: Structural): unknown => {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = value;
  const names = ['apiVersion', 'kind', 'metadata'].filter(
    (name) => Object.hasOwn(value, name) && !schema.properties.has(name) && !schema.hasAdditional,
  );
  const pruned = pruneNulls(pruneResource(value, schema), undefined);
  return names.length > 0 && !schema.preservesUnknown ? rest : pruned;
};

/** Patterns are RE2, as Go has them. */
const patternErrors = async (path: string, schema: unknown, pace: Pace): Promise<FieldError[]> => {
  if (!isMap(schema)) return [];
  const errors: FieldError[] = [];
  const { pattern, properties, items, additionalProperties, not } = schema;
  if (typeof pattern === 'string' && pattern !== '') {
    const compiled = compilePattern(pattern);
    if ('problem' in compiled)
      errors.push(
        invalid(
          child(path, 'pattern'),
          pattern,
          `must be a valid regular expression, but isn't: ${compiled.problem}`,
        ),
      );
    const turn = pace();
    if (turn) await turn;
  }
  for (const [name, inside] of Object.entries(isMap(properties) ? properties : {}))
    errors.push(...(await patternErrors(`${child(path, 'properties')}[${name}]`, inside, pace)));
  errors.push(
    ...(await patternErrors(child(path, 'items'), items, pace)),
    ...(await patternErrors(child(path, 'additionalProperties'), additionalProperties, pace)),
    ...(await patternErrors(child(path, 'not'), not, pace)),
  );
  for (const name of ['allOf', 'anyOf', 'oneOf']) {
    const parts = schema[name];
    for (const [at, part] of (Array.isArray(parts) ? (parts as unknown[]) : []).entries())
      errors.push(...(await patternErrors(index(child(path, name), at), part, pace)));
  }
  return errors;
};

const SELECTABLE_TYPES = ['string', 'boolean', 'integer'];

const selectableErrors = (path: string, version: Obj, schema: Structural): FieldError[] => {
  const seen = new Set<string>();
  return objs(version, 'selectableFields').flatMap((field, i) => {
    const at = child(index(path, i), 'jsonPath');
    const text = str(field, 'jsonPath');
    const found = followFieldPath(text, schema, { allowsKeys: false });
    if ('problem' in found) return [invalid(at, text, `is an invalid path: ${found.problem}`)];
    const errors: FieldError[] = [];
    if (!SELECTABLE_TYPES.includes(found.schema.type))
      errors.push(
        invalid(
          at,
          text,
          'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
        ),
      );
    if (seen.has(found.path)) errors.push(duplicate(at, text));
    seen.add(found.path);
    return errors;
  });
};

/** What is wrong with the defaults and rules of a definition whose schemas are structural. */
export const definitionErrors = async (
  definition: KubernetesObject,
  before: KubernetesObject | undefined,
  minor: number,
): Promise<FieldError[]> => {
  const pace = createPace();
  const versions = versionsOf(definition);
  const old = versionsOf(before);
  const known = new Set<string>();
  expressionsIn(old, known);
  const versionOf = (expression: string): Version =>
    known.has(expression) ? 'stored' : (`1.${minor}` as Version);
  const isUnchanged = (version: Obj): boolean =>
    old.some(
      (one) => str(one, 'name') === str(version, 'name') && sameValue(schemaOf(one), schemaOf(version)),
    );
  const check = async (path: string, schema: JsonSchema): Promise<FieldError[]> => {
    const structural = new Structural(schema);
    return [
      ...(await patternErrors(path, schema, pace)),
      ...(await defaultErrors(path, structural, pace)),
      ...(await ruleErrors(path, structural, { pace, versionOf })),
    ];
  };
  const [first] = versions;
  const shared = first && schemaOf(first);
  const isShared = (name: string): boolean =>
    versions.every((version) => sameValue(version[name], first?.[name]));
  const errors: FieldError[] = versions.flatMap((version, at) => {
    const schema = schemaOf(version);
    if (!schema || (at > 0 && isShared('selectableFields'))) return [];
    const path = isShared('selectableFields') ? 'spec' : index('spec.versions', at);
    return selectableErrors(child(path, 'selectableFields'), version, new Structural(schema));
  });
  if (shared && versions.every((version) => sameValue(schemaOf(version), shared)))
    return versions.every(isUnchanged)
      ? errors
      : [...errors, ...(await check('spec.validation.openAPIV3Schema', shared))];
  for (const [at, version] of versions.entries()) {
    const schema = schemaOf(version);
    if (!schema || isUnchanged(version)) continue;
    errors.push(...(await check(`${index('spec.versions', at)}.schema.openAPIV3Schema`, schema)));
  }
  return errors;
};
