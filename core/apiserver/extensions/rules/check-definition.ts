import type { Version } from '../../../cel/index.ts';
import type { KubernetesObject } from '../../../api/meta/index.ts';
import { child, index, invalid, type FieldError } from '../../../api/validation/index.ts';
import { maybeObj, obj, objs, sameValue, str, type Obj } from '../../../api/validation/read.ts';
import { createPace, type Pace } from '../../discovery/openapi/pace.ts';
import type { JsonSchema } from '../structural/json-schema.ts';
import { pruneNulls, pruneResource } from '../structural/prune.ts';
import { isMap, Structural } from '../structural/structural.ts';
import { fieldErrorOf } from '../values/schema-error.ts';
import { compileValidator } from '../values/validate-value.ts';
import { ruleErrors } from './check-rules.ts';

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
      ...(await defaultErrors(path, structural, pace)),
      ...(await ruleErrors(path, structural, { pace, versionOf })),
    ];
  };
  const [first] = versions;
  const shared = first && schemaOf(first);
  if (shared && versions.every((version) => sameValue(schemaOf(version), shared)))
    return versions.every(isUnchanged) ? [] : check('spec.validation.openAPIV3Schema', shared);
  const errors: FieldError[] = [];
  for (const [at, version] of versions.entries()) {
    const schema = schemaOf(version);
    if (!schema || isUnchanged(version)) continue;
    errors.push(...(await check(`${index('spec.versions', at)}.schema.openAPIV3Schema`, schema)));
  }
  return errors;
};
