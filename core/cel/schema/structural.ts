/** The parts of a structural schema that decide what expressions see, as CustomResourceDefinitions write them. */
export interface StructuralSchema {
  readonly type?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, StructuralSchema>>;
  readonly additionalProperties?: StructuralSchema | boolean;
  readonly items?: StructuralSchema;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-embedded-resource'?: boolean;
  readonly 'x-kubernetes-list-type'?: string;
  readonly 'x-kubernetes-list-map-keys'?: readonly string[];
}

const STRING: StructuralSchema = { type: 'string' };

/** What expressions may always read at the root of a resource, even if the schema does not say so. */
export const withTypeAndObjectMeta = (schema: StructuralSchema): StructuralSchema => {
  const { kind, apiVersion, metadata } = schema.properties ?? {};
  const isComplete =
    kind?.type === 'string' &&
    apiVersion?.type === 'string' &&
    metadata?.type === 'object' &&
    metadata.properties?.name?.type === 'string' &&
    metadata.properties.generateName?.type === 'string';
  if (isComplete) return schema;
  return {
    ...schema,
    properties: {
      ...schema.properties,
      kind: STRING,
      apiVersion: STRING,
      metadata: { type: 'object', properties: { name: STRING, generateName: STRING } },
    },
  };
};

/** The schema of the values of an object that is used as a map. */
export const valuesSchema = ({ additionalProperties }: StructuralSchema): StructuralSchema | undefined =>
  typeof additionalProperties === 'object' ? additionalProperties : undefined;
