import type { FieldError } from '../../field/field-error.ts';
import { errorText, forbidden, invalid, notSupported, required } from '../../field/field-error.ts';
import type { FieldPath } from '../../field/field-path.ts';
import { child, index, key } from '../../field/field-path.ts';
import type { Obj } from '../read.ts';
import { has, isObj, isTrue, maybeObj, obj, objs, sameValue, str, strs } from '../read.ts';

/**
 * What the schema of a custom resource must be for the server to prune, default and patch by it: every field has a
 * type outside of allOf, anyOf, oneOf and not, and those only restrict values.
 */

const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
const EMBEDDED = 'x-kubernetes-embedded-resource';
const INT_OR_STRING = 'x-kubernetes-int-or-string';
const LIST_TYPE = 'x-kubernetes-list-type';
const LIST_KEYS = 'x-kubernetes-list-map-keys';
const MAP_TYPE = 'x-kubernetes-map-type';
const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const INT_OR_STRING_ANY_OF = [{ type: 'integer' }, { type: 'string' }];
/** Far beyond any schema that people write, and well within the stack. */
const DEPTH_MAX = 100;

type Level = 'root' | 'item' | 'field';

const NEEDS_TYPE: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

const propertiesOf = (schema: Obj): (readonly [string, Obj])[] =>
  Object.entries(obj(schema, 'properties')).flatMap(([name, value]) =>
    isObj(value) ? [[name, value] as const] : [],
  );

const property = (path: FieldPath, name: string): FieldPath => key(child(path, 'properties'), name);

/** The parts of a schema that restrict values, with where they are. */
const junctors = (path: FieldPath, schema: Obj): (readonly [FieldPath, Obj])[] => {
  const not = maybeObj(schema, 'not');
  return [
    ...['anyOf', 'allOf', 'oneOf'].flatMap((name) =>
      objs(schema, name).map((part, i) => [index(child(path, name), i), part] as const),
    ),
    ...(not === undefined ? [] : [[child(path, 'not'), not] as const]),
  ];
};

/** The one place where types may stand in a junctor: an integer or a string, in either of two forms. */
const withoutIntOrString = (schema: Obj): Obj => {
  if (sameValue(schema['anyOf'], INT_OR_STRING_ANY_OF)) return { ...schema, anyOf: undefined };
  const [first, ...rest] = objs(schema, 'allOf');
  return first !== undefined && sameValue(first['anyOf'], INT_OR_STRING_ANY_OF)
    ? { ...schema, allOf: [{ ...first, anyOf: undefined }, ...rest] }
    : schema;
};

const NOT_IN_JUNCTORS: Readonly<Record<string, 'empty' | 'undefined' | 'false'>> = {
  type: 'empty',
  additionalProperties: 'undefined',
  default: 'undefined',
  title: 'empty',
  description: 'empty',
  nullable: 'false',
  [PRESERVE]: 'false',
  [EMBEDDED]: 'false',
  [INT_OR_STRING]: 'false',
  [LIST_KEYS]: 'empty',
  [LIST_TYPE]: 'undefined',
  [MAP_TYPE]: 'undefined',
  'x-kubernetes-validations': 'empty',
};

const isEmpty = (value: unknown): boolean => value === '' || (Array.isArray(value) && value.length === 0);

function junctor(path: FieldPath, part: Obj, depth: number): FieldError[] {
  if (depth > DEPTH_MAX) return [];
  const items = maybeObj(part, 'items');
  const isSet = (name: string, must: string): boolean =>
    has(part, name) && (must !== 'false' || isTrue(part, name)) && !(must === 'empty' && isEmpty(part[name]));
  return [
    ...junctors(path, part).flatMap(([at, inside]) => junctor(at, inside, depth + 1)),
    ...(items === undefined ? [] : junctor(child(path, 'items'), items, depth + 1)),
    ...propertiesOf(part).flatMap(([name, inside]) => junctor(property(path, name), inside, depth + 1)),
    ...Object.entries(NOT_IN_JUNCTORS).flatMap(([name, must]) =>
      isSet(name, must) ? [forbidden(child(path, name), `must be ${must} to be structural`)] : [],
    ),
    ...(has(obj(part, 'properties'), 'metadata')
      ? [forbidden(property(path, 'metadata'), 'must not be specified in a nested context')]
      : []),
  ];
}

/** Whatever a junctor speaks of must be specified outside of it too. */
function completeness(
  path: FieldPath,
  schema: Obj | undefined,
  at: FieldPath,
  part: Obj,
  depth: number,
): FieldError[] {
  if (depth > DEPTH_MAX) return [];
  if (schema === undefined) return [required(path, `because it is defined in ${at}`)];
  const items = maybeObj(part, 'items');
  const values = maybeObj(schema, 'additionalProperties');
  const known = obj(schema, 'properties');
  return [
    ...(items === undefined
      ? []
      : completeness(child(path, 'items'), maybeObj(schema, 'items'), child(at, 'items'), items, depth + 1)),
    ...propertiesOf(part).flatMap(([name, inside]) =>
      completeness(
        property(path, name),
        maybeObj(known, name) ?? values,
        property(at, name),
        inside,
        depth + 1,
      ),
    ),
    ...junctors(at, part).flatMap(([inner, inside]) => completeness(path, schema, inner, inside, depth + 1)),
  ];
}

function metadata(path: FieldPath, schema: Obj, isRoot: boolean): FieldError[] {
  const { type, ...rest } = schema;
  const names = Object.keys(obj(schema, 'properties'));
  const onlyNames = names.every((name) => name === 'name' || name === 'generateName');
  const others = Object.keys(rest).filter((name) => name !== 'properties' && name !== 'default');
  return [
    ...(type === 'object' ? [] : [invalid(child(path, 'type'), str(schema, 'type'), 'must be object')]),
    ...(isRoot && (!onlyNames || others.length > 0)
      ? [
          forbidden(
            path,
            'must not specify anything other than name and generateName, but metadata is implicitly specified',
          ),
        ]
      : []),
  ];
}

/** Of a resource, at the root or embedded. */
function resourceFields(path: FieldPath, schema: Obj, isRoot: boolean): FieldError[] {
  const properties = obj(schema, 'properties');
  return [
    ...['kind', 'apiVersion'].flatMap((name) => {
      const found = maybeObj(properties, name);
      return found === undefined || found['type'] === 'string'
        ? []
        : [invalid(child(property(path, name), 'type'), str(found, 'type'), 'must be string')];
    }),
    ...(maybeObj(properties, 'metadata') === undefined
      ? []
      : metadata(property(path, 'metadata'), obj(properties, 'metadata'), isRoot)),
  ];
}

function typeOf(path: FieldPath, schema: Obj, level: Level): FieldError[] {
  const type = str(schema, 'type');
  const at = child(path, 'type');
  if (isTrue(schema, EMBEDDED) && type !== 'object') {
    const why = 'must be object if x-kubernetes-embedded-resource is true';
    return [type === '' ? required(at, why) : invalid(at, type, why)];
  }
  if (type === '')
    return isTrue(schema, INT_OR_STRING) || isTrue(schema, PRESERVE) ? [] : [required(at, NEEDS_TYPE[level])];
  return level === 'root' && type !== 'object' ? [invalid(at, type, 'must be object at the root')] : [];
}

function invariants(path: FieldPath, schema: Obj, level: Level, depth: number): FieldError[] {
  if (depth > DEPTH_MAX) return [];
  const items = maybeObj(schema, 'items');
  const values = schema['additionalProperties'];
  const isEmbedded = isTrue(schema, EMBEDDED);
  const isIntOrString = isTrue(schema, INT_OR_STRING);
  const notBoth = (name: string): FieldError[] =>
    isIntOrString && isTrue(schema, name)
      ? [invalid(child(path, name), true, 'must be false if x-kubernetes-int-or-string is true')]
      : [];
  return [
    ...(schema['type'] === 'array' && items === undefined
      ? [required(child(path, 'items'), 'must be specified')]
      : []),
    ...(items === undefined ? [] : invariants(child(path, 'items'), items, 'item', depth + 1)),
    ...propertiesOf(schema).flatMap(([name, inside]) =>
      invariants(property(path, name), inside, 'field', depth + 1),
    ),
    ...(values !== undefined && level === 'root'
      ? [forbidden(child(path, 'additionalProperties'), 'must not be used at the root')]
      : []),
    ...(isObj(values) ? invariants(child(path, 'additionalProperties'), values, 'field', depth + 1) : []),
    ...notBoth(PRESERVE),
    ...notBoth(EMBEDDED),
    ...junctors(path, withoutIntOrString(schema)).flatMap(([at, part]) => junctor(at, part, depth + 1)),
    ...typeOf(path, schema, level),
    ...(isEmbedded && values !== undefined
      ? [
          forbidden(
            child(path, 'additionalProperties'),
            'must not be used if x-kubernetes-embedded-resource is set',
          ),
        ]
      : []),
    ...(level === 'root' || isEmbedded ? resourceFields(path, schema, level === 'root') : []),
    ...(isEmbedded && !isTrue(schema, PRESERVE) && propertiesOf(schema).length === 0
      ? [
          required(
            child(path, 'properties'),
            'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields',
          ),
        ]
      : []),
    ...junctors(path, schema).flatMap(([at, part]) => completeness(path, schema, at, part, depth + 1)),
  ];
}

const UNSUPPORTED = ['id', 'additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'];

function listMap(path: FieldPath, schema: Obj): FieldError[] {
  const keys = strs(schema, LIST_KEYS);
  const items = maybeObj(schema, 'items');
  if (str(schema, LIST_TYPE) !== 'map') {
    if (keys.length === 0) return [];
    const why = 'must be map if x-kubernetes-list-map-keys is non-empty';
    return [
      has(schema, LIST_TYPE)
        ? invalid(child(path, LIST_TYPE), str(schema, LIST_TYPE), why)
        : required(child(path, LIST_TYPE), why),
    ];
  }
  const itemProperties = items === undefined ? {} : obj(items, 'properties');
  return [
    ...(keys.length === 0
      ? [required(child(path, LIST_KEYS), 'must not be empty if x-kubernetes-list-type is map')]
      : []),
    ...(items === undefined
      ? [required(child(path, 'items'), 'must have a schema if x-kubernetes-list-type is map')]
      : items['type'] === 'object'
        ? keys.flatMap((name, i) => [
            ...listKey(path, keys, name, itemProperties),
            ...(keys.indexOf(name) < i
              ? [invalid(child(path, LIST_KEYS), keys, 'must not contain duplicate entries')]
              : []),
          ])
        : [
            invalid(
              child(path, 'items', 'type'),
              str(items, 'type'),
              "must be object if parent array's x-kubernetes-list-type is map",
            ),
          ]),
  ];
}

const listKey = (path: FieldPath, keys: readonly string[], name: string, properties: Obj): FieldError[] => {
  const found = maybeObj(properties, name);
  if (found === undefined)
    return [invalid(child(path, LIST_KEYS), keys, 'entries must all be names of item properties')];
  return found['type'] === 'array' || found['type'] === 'object'
    ? [
        invalid(
          child(property(child(path, 'items'), name), 'type'),
          'object',
          "must be a scalar type if parent array's x-kubernetes-list-type is map",
        ),
      ]
    : [];
};

/** An extension that goes with one type. */
function extension(
  path: FieldPath,
  schema: Obj,
  name: string,
  type: string,
  values: readonly string[],
): FieldError[] {
  if (!has(schema, name)) return [];
  const [own, value] = [str(schema, 'type'), str(schema, name)];
  const why = `must be ${type} if ${name} is specified`;
  return [
    ...(own === type
      ? []
      : [own === '' ? required(child(path, 'type'), why) : invalid(child(path, 'type'), own, why)]),
    ...(values.includes(value) ? [] : [notSupported(child(path, name), value, values)]),
  ];
}

/** What no schema may use, structural or not. */
function vocabulary(path: FieldPath, schema: Obj, depth: number): FieldError[] {
  if (depth > DEPTH_MAX) return [];
  const type = str(schema, 'type');
  const values = schema['additionalProperties'];
  const items = schema['items'];
  return [
    ...(type !== '' && !TYPES.includes(type) ? [notSupported(child(path, 'type'), type, TYPES)] : []),
    ...UNSUPPORTED.flatMap((name) =>
      has(schema, name) ? [forbidden(child(path, name), `${name} is not supported`)] : [],
    ),
    ...(Array.isArray(items)
      ? [forbidden(child(path, 'items'), 'items must be a schema object and not an array')]
      : []),
    ...(isTrue(schema, 'uniqueItems')
      ? [
          forbidden(
            child(path, 'uniqueItems'),
            'uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
          ),
        ]
      : []),
    ...(values !== undefined && values !== true && propertiesOf(schema).length > 0
      ? [
          forbidden(
            child(path, 'additionalProperties'),
            'additionalProperties and properties are mutual exclusive',
          ),
        ]
      : []),
    ...(isObj(values) ? vocabulary(child(path, 'additionalProperties'), values, depth + 1) : []),
    ...propertiesOf(schema).flatMap(([name, inside]) => vocabulary(property(path, name), inside, depth + 1)),
    ...junctors(path, schema).flatMap(([at, part]) => vocabulary(at, part, depth + 1)),
    ...(isObj(items) ? vocabulary(child(path, 'items'), items, depth + 1) : []),
    ...(schema[PRESERVE] === false
      ? [invalid(child(path, PRESERVE), false, 'must be true or undefined')]
      : []),
    ...extension(path, schema, MAP_TYPE, 'object', ['atomic', 'granular']),
    ...extension(path, schema, LIST_TYPE, 'array', ['atomic', 'set', 'map']),
    ...listMap(path, schema),
    ...uniqueItems(path, schema),
  ];
}

/** Items that a list tells apart by their value or their keys. */
function uniqueItems(path: FieldPath, schema: Obj): FieldError[] {
  const type = str(schema, LIST_TYPE);
  const items = maybeObj(schema, 'items');
  if (items === undefined || schema['type'] !== 'array' || (type !== 'set' && type !== 'map')) return [];
  const at = child(path, 'items');
  const atomic = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  const errors: FieldError[] = [];
  if (type === 'set' && items['type'] === 'array' && has(items, LIST_TYPE) && items[LIST_TYPE] !== 'atomic')
    errors.push(invalid(child(at, LIST_TYPE), items[LIST_TYPE], atomic));
  if (type === 'set' && items['type'] === 'object' && items[MAP_TYPE] !== 'atomic')
    errors.push(invalid(child(at, MAP_TYPE), items[LIST_TYPE] ?? null, atomic));
  if (isTrue(items, 'nullable'))
    errors.push(
      forbidden(child(at, 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${type}`),
    );
  if (type === 'set') return errors;
  const properties = obj(items, 'properties');
  for (const name of strs(schema, LIST_KEYS)) {
    const found = maybeObj(properties, name);
    if (found === undefined) continue;
    const why = 'this property is in x-kubernetes-list-map-keys, so it';
    if (!strs(items, 'required').includes(name) && !has(found, 'default'))
      errors.push(
        required(
          child(property(at, name), 'default'),
          `${why} must have a default or be a required property`,
        ),
      );
    if (isTrue(found, 'nullable'))
      errors.push(forbidden(child(property(at, name), 'nullable'), `${why} cannot be nullable`));
  }
  return errors;
}

/** All that is wrong with the schema of a custom resource. Rules in CEL are checked by the server that runs them. */
export function structuralSchema(path: FieldPath, schema: Obj): FieldError[] {
  const structural = invariants(path, schema, 'root', 0).sort((a, b) =>
    errorText(a) < errorText(b) ? -1 : 1,
  );
  return [
    ...(isTrue(schema, 'nullable')
      ? [forbidden(`${path}.nullable`, 'nullable cannot be true at the root')]
      : []),
    ...structural,
    ...vocabulary(path, schema, 0),
  ];
}
