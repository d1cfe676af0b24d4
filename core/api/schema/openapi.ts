import { assert } from '../../base/assert.ts';
import type { TypeDescription } from './descriptions.ts';
import { definitionNameOf, kindOfType, structOf } from './models.ts';
import type { FieldType, Scalar, TypeNode } from './types.ts';

/** A JSON schema as OpenAPI 2 and 3 publish it. */
export interface OpenApiSchema {
  description?: string;
  type?: string;
  format?: string;
  $ref?: string;
  allOf?: OpenApiSchema[];
  oneOf?: OpenApiSchema[];
  items?: OpenApiSchema;
  additionalProperties?: OpenApiSchema;
  properties?: Record<string, OpenApiSchema>;
  required?: string[];
  default?: unknown;
  [extension: `x-kubernetes-${string}`]: unknown;
}

/** The older document has no defaults, and says with a string what the newer says with alternatives. */
export type OpenApiVersion = 2 | 3;

const REF_PREFIX: Readonly<Record<OpenApiVersion, string>> = {
  2: '#/definitions/',
  3: '#/components/schemas/',
};

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const APIEXTENSIONS = 'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1';
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
const RAW_EXTENSION = 'io.k8s.apimachinery.pkg.runtime.RawExtension';

/** Definitions that no model has: they are scalars or anything on the wire. */
const SPECIAL: Readonly<Record<OpenApiVersion, Readonly<Record<string, OpenApiSchema>>>> = {
  2: {
    [QUANTITY]: { type: 'string' },
    [INT_OR_STRING]: { type: 'string', format: 'int-or-string' },
  },
  3: {
    [QUANTITY]: { oneOf: [{ type: 'string' }, { type: 'number' }] },
    [INT_OR_STRING]: { format: 'int-or-string', oneOf: [{ type: 'integer' }, { type: 'string' }] },
  },
};
const SPECIAL_IN_BOTH: Readonly<Record<string, OpenApiSchema>> = {
  [`${META}.Time`]: { type: 'string', format: 'date-time' },
  [`${META}.MicroTime`]: { type: 'string', format: 'date-time' },
  [`${META}.FieldsV1`]: { type: 'object' },
  [`${META}.Patch`]: { type: 'object' },
  [RAW_EXTENSION]: { type: 'object' },
  [`${APIEXTENSIONS}.CustomResourceSubresourceStatus`]: { type: 'object' },
  [`${APIEXTENSIONS}.JSON`]: {},
  [`${APIEXTENSIONS}.JSONSchemaPropsOrArray`]: {},
  [`${APIEXTENSIONS}.JSONSchemaPropsOrBool`]: {},
  [`${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`]: {},
};

/** The definitions beside those of `typeIds()`, by name. */
export const specialDefinitions = (version: OpenApiVersion): Readonly<Record<string, OpenApiSchema>> => ({
  ...SPECIAL_IN_BOTH,
  ...SPECIAL[version],
});

const PLAIN: Readonly<Partial<Record<Scalar, OpenApiSchema>>> = {
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};
const NAMED: Readonly<Partial<Record<Scalar, string>>> = {
  time: `${META}.Time`,
  microTime: `${META}.MicroTime`,
  quantity: QUANTITY,
  intOrString: INT_OR_STRING,
};

/** The definition that an opaque field refers to; two are told apart by the one type that has them. */
const opaqueName = (owner: string, field: FieldType, type: TypeNode & { node: 'opaque' }): string => {
  switch (type.opaque) {
    case 'object':
      return owner === 'meta.v1.ManagedFieldsEntry' && field.name === 'fieldsV1'
        ? `${META}.FieldsV1`
        : RAW_EXTENSION;
    case 'any':
      return owner === 'apiextensions.v1.CustomResourceSubresources'
        ? `${APIEXTENSIONS}.CustomResourceSubresourceStatus`
        : `${APIEXTENSIONS}.JSON`;
    case 'schemaOrArray':
      return `${APIEXTENSIONS}.JSONSchemaPropsOrArray`;
    case 'schemaOrBool':
      return `${APIEXTENSIONS}.JSONSchemaPropsOrBool`;
    case 'schemaOrStrings':
      return `${APIEXTENSIONS}.JSONSchemaPropsOrStringArray`;
  }
};

const ZEROS: Readonly<Partial<Record<Scalar, unknown>>> = { string: '', boolean: false, int32: 0, int64: 0 };

/** Every element of a list or map has a zero value. */
const elementDefault = (type: TypeNode): unknown => {
  if (type.node === 'struct') return {};
  return type.node === 'scalar' ? ZEROS[type.scalar] : undefined;
};

/** The default that is published for a field: its own, `{}` for what is held by value, or the zero value. */
export const publishedDefault = (field: FieldType): unknown => {
  if (field.default !== undefined) return field.default;
  if (field.type.node === 'struct') return field.byValue ? {} : undefined;
  if (!field.required || field.isPointer || field.type.node !== 'scalar') return undefined;
  return ZEROS[field.type.scalar];
};

class Writer {
  readonly #version: OpenApiVersion;
  readonly #owner: string;

  constructor(version: OpenApiVersion, owner: string) {
    this.#version = version;
    this.#owner = owner;
  }

  property(field: FieldType, description: string): OpenApiSchema {
    const schema = this.#withDefault(this.#node(field, field.type), publishedDefault(field));
    // Beside a bare reference nothing may stand in OpenAPI 3.
    const result: OpenApiSchema =
      this.#version === 3 && schema.$ref !== undefined && description !== '' ? { allOf: [schema] } : schema;
    if (description !== '') result.description = description;
    if (field.listType) result['x-kubernetes-list-type'] = field.listType;
    if (field.listMapKeys) result['x-kubernetes-list-map-keys'] = field.listMapKeys;
    if (field.mapType) result['x-kubernetes-map-type'] = field.mapType;
    if (field.patchStrategy) result['x-kubernetes-patch-strategy'] = field.patchStrategy.join(',');
    if (field.patchMergeKey !== undefined) result['x-kubernetes-patch-merge-key'] = field.patchMergeKey;
    return result;
  }

  #node(field: FieldType, type: TypeNode): OpenApiSchema {
    switch (type.node) {
      case 'list':
        return { type: 'array', items: this.#element(field, type.items) };
      case 'map':
        return { type: 'object', additionalProperties: this.#element(field, type.values) };
      case 'struct':
        return this.#ref(definitionNameOf(type.struct.id));
      case 'opaque':
        return this.#ref(opaqueName(this.#owner, field, type));
      case 'scalar': {
        const plain = PLAIN[type.scalar];
        if (plain) return { ...plain };
        const name = NAMED[type.scalar];
        assert(name !== undefined, `${type.scalar} has no OpenAPI type`);
        return this.#ref(name);
      }
    }
  }

  #element(field: FieldType, type: TypeNode): OpenApiSchema {
    return this.#withDefault(this.#node(field, type), elementDefault(type));
  }

  #ref(name: string): OpenApiSchema {
    return { $ref: REF_PREFIX[this.#version] + name };
  }

  #withDefault(schema: OpenApiSchema, value: unknown): OpenApiSchema {
    if (value === undefined || this.#version === 2) return schema;
    return schema.$ref === undefined ? { ...schema, default: value } : { allOf: [schema], default: value };
  }
}

const union = (discriminator: string, fields: Readonly<Record<string, string>>): unknown => [
  { discriminator, 'fields-to-discriminateBy': fields },
];

/** Types of which one field says which of the others counts. */
const UNIONS: Readonly<Record<string, unknown>> = {
  'core.v1.AppArmorProfile': union('type', { localhostProfile: 'LocalhostProfile' }),
  'core.v1.SeccompProfile': union('type', { localhostProfile: 'LocalhostProfile' }),
  'core.v1.PodSchedulingGroup': [{ 'fields-to-discriminateBy': { podGroupName: 'PodGroupName' } }],
  'flowcontrol.v1.LimitResponse': union('type', { queuing: 'Queuing' }),
  'flowcontrol.v1.PriorityLevelConfigurationSpec': union('type', { exempt: 'Exempt', limited: 'Limited' }),
  'flowcontrol.v1.Subject': union('kind', { group: 'Group', serviceAccount: 'ServiceAccount', user: 'User' }),
};

/** The definition of a built-in type that a release (or the newest) publishes under `definitionNameOf(typeId)`. */
export const openApiDefinition = (
  typeId: string,
  version: OpenApiVersion,
  description?: TypeDescription,
  minor?: number,
): OpenApiSchema => {
  const struct = structOf(typeId, minor);
  const writer = new Writer(version, typeId);
  const fields = [...struct.fields.values()];
  const required = fields.filter((field) => field.required).map((field) => field.name);
  const properties = Object.fromEntries(
    fields.map((field) => [field.name, writer.property(field, description?.fields[field.name] ?? '')]),
  );
  const kind = kindOfType(struct);
  const unions = UNIONS[typeId];
  return {
    ...(description && description.type !== '' && { description: description.type }),
    type: 'object',
    ...(fields.length > 0 && { properties }),
    ...(required.length > 0 && { required }),
    ...(struct.mapType && { 'x-kubernetes-map-type': struct.mapType }),
    ...(kind && { 'x-kubernetes-group-version-kind': [kind] }),
    ...(unions !== undefined && { 'x-kubernetes-unions': unions }),
  };
};
