import type { OpenApiSchema, OpenApiVersion } from '../../../api/schema/index.ts';
import type { JsonSchema } from '../structural/json-schema.ts';
import type { CustomResource, CustomVersion } from './custom-resource.ts';

const META = 'io.k8s.apimachinery.pkg.apis.meta.v1';
const REFS: Readonly<Record<OpenApiVersion, string>> = { 2: '#/definitions/', 3: '#/components/schemas/' };

const API_VERSION =
  'APIVersion defines the versioned schema of this representation of an object. Servers should convert recognized schemas to the latest internal value, and may reject unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources';
const KIND =
  'Kind is a string value representing the REST resource this object represents. Servers may infer this from the endpoint the client submits requests to. Cannot be updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds';
const EMBEDDED_API_VERSION =
  'apiVersion defines the versioned schema of this representation of an object. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources';
const EMBEDDED_KIND =
  'kind is a string value representing the type of this object. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds';
const OBJECT_META =
  "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";
const LIST_META =
  'Standard list metadata. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds';

/** `com.example.v1.Widget`: the group backwards, as packages are named. */
export const definitionName = (group: string, version: string, kind: string): string =>
  `${group.split('.').reverse().join('.')}.${version}.${kind}`;

/** Written as it is in both documents. */
const KEPT = [
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'multipleOf',
  'enum',
  'maxProperties',
  'minProperties',
  'required',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-map-type',
  'x-kubernetes-validations',
] as const;

/** What the older document cannot say. */
const ONLY_THREE = ['default', 'nullable'] as const;

type Written = Record<string, unknown>;

class SchemaWriter {
  readonly #version: OpenApiVersion;

  constructor(version: OpenApiVersion) {
    this.#version = version;
  }

  ref(name: string, description: string): Written {
    const ref = { $ref: `${REFS[this.#version]}${name}` };
    return this.#version === 3 ? { description, allOf: [ref] } : { description, ...ref };
  }

  /** As clients of the older document read it: where a value may be of several kinds, nothing is said of it. */
  schema(schema: JsonSchema): Written {
    const result: Written = {};
    for (const name of KEPT) if (schema[name] !== undefined) result[name] = schema[name];
    if (this.#version === 3) {
      for (const name of ONLY_THREE) if (schema[name] !== undefined) result[name] = schema[name];
      for (const name of ['allOf', 'anyOf', 'oneOf'] as const)
        if (schema[name]) result[name] = schema[name].map((part) => this.schema(part));
      if (schema.not) result['not'] = this.schema(schema.not);
      if (schema['x-kubernetes-int-or-string'] === true && schema.anyOf === undefined)
        result['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
    } else if (this.#isLoose(schema)) {
      delete result['type'];
      delete result['format'];
    }
    const isOpen = this.#version === 2 && this.#isLoose(schema);
    if (schema.items && !isOpen) result['items'] = this.schema(schema.items);
    if (
      schema.properties &&
      !(this.#version === 2 && schema['x-kubernetes-preserve-unknown-fields'] === true)
    )
      result['properties'] = Object.fromEntries(
        Object.entries(schema.properties).map(([name, inside]) => [name, this.schema(inside)]),
      );
    const { additionalProperties: values } = schema;
    if (values !== undefined && !isOpen)
      result['additionalProperties'] = typeof values === 'object' ? this.schema(values) : values;
    if (schema['x-kubernetes-embedded-resource'] === true && this.#version === 3) {
      this.#addMeta(result, [EMBEDDED_API_VERSION, EMBEDDED_KIND]);
      result['required'] = [...new Set([...(schema.required ?? []), 'kind', 'apiVersion'])];
    }
    return result;
  }

  /** kubectl's validation by the older document knows neither nulls nor alternatives. */
  #isLoose(schema: JsonSchema): boolean {
    return (
      schema.nullable === true ||
      schema['x-kubernetes-int-or-string'] === true ||
      schema['x-kubernetes-preserve-unknown-fields'] === true
    );
  }

  #addMeta(written: Written, [apiVersion, kind] = [API_VERSION, KIND]): void {
    const properties = (written['properties'] ?? {}) as Written;
    written['properties'] = {
      ...properties,
      apiVersion: { description: apiVersion, type: 'string' },
      kind: { description: kind, type: 'string' },
      metadata: this.ref(`${META}.ObjectMeta`, OBJECT_META),
    };
  }

  resource(schema: JsonSchema): Written {
    const written = { type: 'object', ...this.schema(schema) };
    this.#addMeta(written);
    return written;
  }

  list(itemName: string, kind: string, plural: string): Written {
    const ref = { $ref: `${REFS[this.#version]}${itemName}` };
    return {
      description: `${kind} is a list of ${kind.replace(/List$/, '')}`,
      type: 'object',
      required: ['items'],
      properties: {
        apiVersion: { description: API_VERSION, type: 'string' },
        items: {
          description: `List of ${plural}. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md`,
          type: 'array',
          items: ref,
        },
        kind: { description: KIND, type: 'string' },
        metadata: this.ref(`${META}.ListMeta`, LIST_META),
      },
    };
  }
}

/** The definitions of one version of a custom resource and of its list. */
export const openApiDefinitions = (
  { group, names }: CustomResource,
  version: CustomVersion,
  openApi: OpenApiVersion,
): Readonly<Record<string, OpenApiSchema>> => {
  const writer = new SchemaWriter(openApi);
  const gvk = (kind: string): OpenApiSchema => ({
    'x-kubernetes-group-version-kind': [{ group, version: version.name, kind }],
    ...(version.selectableFields.length > 0 && {
      'x-kubernetes-selectable-fields': version.selectableFields.map((path) => ({
        fieldPath: path.replace(/^\./, ''),
      })),
    }),
  });
  const itemName = definitionName(group, version.name, names.kind);
  return {
    [itemName]: { ...writer.resource(version.schema), ...gvk(names.kind) } as OpenApiSchema,
    [definitionName(group, version.name, names.listKind)]: {
      ...writer.list(itemName, names.listKind, names.plural),
      ...gvk(names.listKind),
    } as OpenApiSchema,
  };
};
