import type { KubernetesObject } from '../../../api/meta/index.ts';
import { isTrue, maybeObj, obj, objs, str, strs, type Obj } from '../../../api/validation/read.ts';
import type { JsonSchema } from '../structural/json-schema.ts';

export interface ResourceNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string;
}

export interface ColumnDefinition {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

export interface CustomVersion {
  readonly name: string;
  readonly isServed: boolean;
  readonly isStorage: boolean;
  readonly isDeprecated: boolean;
  readonly deprecationWarning: string | undefined;
  readonly schema: JsonSchema;
  readonly hasStatus: boolean;
  readonly scale: ScalePaths | undefined;
  readonly columns: readonly ColumnDefinition[];
  /** JSON paths, as `.spec.color`. */
  readonly selectableFields: readonly string[];
}

export interface Conversion {
  readonly strategy: 'None' | 'Webhook';
  readonly reviewVersions: readonly string[];
  readonly clientConfig: Obj;
}

/** A CustomResourceDefinition as a server reads it. */
export interface CustomResource {
  /** `plural.group`, as the definition is named. */
  readonly id: string;
  readonly uid: string;
  readonly group: string;
  readonly isNamespaced: boolean;
  /** As accepted: what conflicts with the names of others is not served. */
  readonly names: ResourceNames;
  readonly versions: readonly CustomVersion[];
  readonly storageVersion: string;
  readonly preservesUnknown: boolean;
  readonly conversion: Conversion;
  readonly isTerminating: boolean;
  /** Served when its names are accepted, and from then on. */
  readonly isServed: boolean;
  /** In discovery. */
  readonly isEstablished: boolean;
}

const namesOf = (names: Obj): ResourceNames => ({
  plural: str(names, 'plural'),
  singular: str(names, 'singular'),
  kind: str(names, 'kind'),
  listKind: str(names, 'listKind'),
  shortNames: strs(names, 'shortNames'),
  categories: strs(names, 'categories'),
});

const scaleOf = (subresources: Obj): ScalePaths | undefined => {
  const scale = maybeObj(subresources, 'scale');
  return (
    scale && {
      specReplicasPath: str(scale, 'specReplicasPath'),
      statusReplicasPath: str(scale, 'statusReplicasPath'),
      labelSelectorPath: str(scale, 'labelSelectorPath'),
    }
  );
};

const columnOf = (column: Obj): ColumnDefinition => ({
  name: str(column, 'name'),
  type: str(column, 'type'),
  format: str(column, 'format'),
  description: str(column, 'description'),
  priority: typeof column['priority'] === 'number' ? column['priority'] : 0,
  jsonPath: str(column, 'jsonPath'),
});

/** What a definition without columns shows. */
const AGE: ColumnDefinition = {
  name: 'Age',
  type: 'date',
  format: '',
  description:
    'CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata',
  priority: 0,
  jsonPath: '.metadata.creationTimestamp',
};

const versionOf = (version: Obj): CustomVersion => {
  const subresources = obj(version, 'subresources');
  const columns = objs(version, 'additionalPrinterColumns').map(columnOf);
  return {
    name: str(version, 'name'),
    isServed: isTrue(version, 'served'),
    isStorage: isTrue(version, 'storage'),
    isDeprecated: isTrue(version, 'deprecated'),
    deprecationWarning:
      typeof version['deprecationWarning'] === 'string' ? version['deprecationWarning'] : undefined,
    schema: obj(obj(version, 'schema'), 'openAPIV3Schema') as JsonSchema,
    hasStatus: maybeObj(subresources, 'status') !== undefined,
    scale: scaleOf(subresources),
    columns: columns.length > 0 ? columns : [AGE],
    selectableFields: objs(version, 'selectableFields').map((field) => str(field, 'jsonPath')),
  };
};

const conversionOf = (conversion: Obj): Conversion => {
  const webhook = obj(conversion, 'webhook');
  return {
    strategy: str(conversion, 'strategy') === 'Webhook' ? 'Webhook' : 'None',
    reviewVersions: strs(webhook, 'conversionReviewVersions'),
    clientConfig: obj(webhook, 'clientConfig'),
  };
};

export const hasCondition = (definition: KubernetesObject, type: string): boolean =>
  objs(obj(definition, 'status'), 'conditions').some(
    (condition) => condition['type'] === type && condition['status'] === 'True',
  );

export const customResourceOf = (definition: KubernetesObject): CustomResource => {
  const spec = obj(definition, 'spec');
  const versions = objs(spec, 'versions').map(versionOf);
  const isEstablished = hasCondition(definition, 'Established');
  return {
    id: definition.metadata?.name ?? '',
    uid: definition.metadata?.uid ?? '',
    group: str(spec, 'group'),
    isNamespaced: str(spec, 'scope') === 'Namespaced',
    names: namesOf(obj(obj(definition, 'status'), 'acceptedNames')),
    versions,
    storageVersion: versions.find(({ isStorage }) => isStorage)?.name ?? '',
    preservesUnknown: isTrue(spec, 'preserveUnknownFields'),
    conversion: conversionOf(obj(spec, 'conversion')),
    isTerminating: hasCondition(definition, 'Terminating'),
    isServed: isEstablished || hasCondition(definition, 'NamesAccepted'),
    isEstablished,
  };
};
