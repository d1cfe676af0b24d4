import { isJsonObject, type KubernetesObject } from '../../api/meta/index.ts';

type Fields = Record<string, unknown>;
const fieldsOf = (value: unknown): Fields => (isJsonObject(value) ? value : {});

const BETA = 'apiextensions.k8s.io/v1beta1';

const columnsOf = (columns: unknown): unknown =>
  Array.isArray(columns)
    ? columns.map((column) => {
        const { JSONPath: jsonPath, ...rest } = fieldsOf(column);
        return { ...rest, ...(jsonPath !== undefined && { jsonPath }) };
      })
    : undefined;

const conversionOf = (conversion: unknown): unknown => {
  if (!isJsonObject(conversion)) return undefined;
  const { webhookClientConfig: clientConfig, conversionReviewVersions, ...rest } = conversion;
  if (clientConfig === undefined && conversionReviewVersions === undefined) return rest;
  return {
    ...rest,
    webhook: { ...(clientConfig !== undefined && { clientConfig }), conversionReviewVersions },
  };
};

/**
 * kube-apiserver still stores CustomResourceDefinitions in v1beta1, which no server offers: what all versions share stands
 * beside them there, and in each of them in v1.
 */
export const definitionOf = (object: KubernetesObject): KubernetesObject => {
  if (object.apiVersion !== BETA || object.kind !== 'CustomResourceDefinition') return object;
  const { validation, subresources, additionalPrinterColumns, conversion, ...spec } = fieldsOf(
    (object as Fields)['spec'],
  );
  const { version: only, versions, preserveUnknownFields, ...kept } = spec;
  const listed = Array.isArray(versions) ? versions : [{ name: only, served: true, storage: true }];
  const settled = conversionOf(conversion);
  return {
    ...object,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      ...kept,
      ...(settled !== undefined && { conversion: settled }),
      ...(preserveUnknownFields === true && { preserveUnknownFields }),
      versions: listed.map((version) => {
        const { schema, subresources: own, additionalPrinterColumns: columns, ...rest } = fieldsOf(version);
        const shown = columnsOf(columns ?? additionalPrinterColumns);
        return {
          ...rest,
          ...((schema ?? validation) !== undefined && { schema: schema ?? validation }),
          ...((own ?? subresources) !== undefined && { subresources: own ?? subresources }),
          ...(shown !== undefined && { additionalPrinterColumns: shown }),
        };
      }),
    },
  } as KubernetesObject;
};
