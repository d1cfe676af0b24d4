import type { KubernetesObject } from '../../meta/object-meta.ts';

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {});
const listOf = (value: unknown): readonly Fields[] => (Array.isArray(value) ? value.filter(isFields) : []);

const columnOf = ({ JSONPath: jsonPath, ...rest }: Fields): Fields => ({
  ...rest,
  ...(jsonPath !== undefined && { jsonPath }),
});

/** What v1beta1 says once for all versions, v1 says in each. */
const versionOf = (version: Fields, shared: Fields): Fields => {
  const { additionalPrinterColumns, ...rest } = { ...version, ...shared };
  return {
    ...rest,
    ...(additionalPrinterColumns !== undefined && {
      additionalPrinterColumns: listOf(additionalPrinterColumns).map(columnOf),
    }),
  };
};

const conversionOf = ({
  strategy = 'None',
  webhookClientConfig,
  conversionReviewVersions,
}: Fields): Fields => ({
  strategy,
  ...((webhookClientConfig !== undefined || conversionReviewVersions !== undefined) && {
    webhook: {
      ...(webhookClientConfig !== undefined && { clientConfig: webhookClientConfig }),
      conversionReviewVersions: conversionReviewVersions ?? ['v1beta1'],
    },
  }),
});

/** Servers of upstream keep definitions in v1beta1, up to this day: it cannot be asked for, but etcd has it. */
export const definitionFromV1Beta1 = (object: KubernetesObject): KubernetesObject => {
  const {
    version,
    versions,
    validation,
    subresources,
    additionalPrinterColumns,
    selectableFields,
    conversion,
    preserveUnknownFields = true,
    ...spec
  } = fieldsOf(object['spec']);
  const written = listOf(versions);
  const all = written.length > 0 ? written : [{ name: version, served: true, storage: true }];
  const shared = {
    ...(validation !== undefined && { schema: validation }),
    ...(subresources !== undefined && { subresources }),
    ...(additionalPrinterColumns !== undefined && { additionalPrinterColumns }),
    ...(selectableFields !== undefined && { selectableFields }),
  };
  return {
    ...object,
    apiVersion: 'apiextensions.k8s.io/v1',
    spec: {
      scope: 'Namespaced',
      ...spec,
      conversion: conversionOf(fieldsOf(conversion)),
      ...(preserveUnknownFields === true && { preserveUnknownFields }),
      versions: all.map((one) => versionOf(one, shared)),
    },
  };
};
