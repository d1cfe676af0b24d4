import { badRequest, type KubernetesObject, type ObjectMeta } from '../../api/meta/index.ts';
import type { TableColumn } from '../../api/scheme/index.ts';
import type { Endpoint } from './endpoint.ts';

export type IncludeObject = 'Metadata' | 'None' | 'Object';

export interface TableForm {
  readonly metaVersion: string;
  readonly include: IncludeObject;
  readonly nowMs: number;
}

export interface TableRow {
  readonly cells: readonly unknown[];
  readonly conditions?: unknown;
  readonly object?: unknown;
}

const INCLUDES = new Set(['', 'Metadata', 'None', 'Object']);

export const includeObjectOf = (query: URLSearchParams): IncludeObject => {
  const include = query.get('includeObject') ?? '';
  if (!INCLUDES.has(include))
    throw badRequest(
      `Unable to convert to Table as requested: includeObject: Unsupported value: ${JSON.stringify(include)}: supported values: "Metadata", "None", "Object"`,
    );
  return include === '' ? 'Metadata' : (include as IncludeObject);
};

export const partialMetadata = (metaVersion: string, metadata: ObjectMeta | undefined): KubernetesObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: metaVersion,
  metadata: metadata ?? {},
});

/** Columns as the API has them; the fields are always there. */
export const columnDefinitions = (endpoint: Endpoint): readonly TableColumn[] => endpoint.printer.columns;

/** One row of `kubectl get`. `object` is as kept. */
export const tableRow = (endpoint: Endpoint, object: KubernetesObject, form: TableForm): TableRow => {
  const { printer } = endpoint;
  const conditions = printer.conditions?.(object);
  const shown =
    form.include === 'None'
      ? null
      : form.include === 'Object'
        ? endpoint.fromHub(object)
        : partialMetadata(form.metaVersion, object.metadata);
  return {
    cells: printer.cells(object, form.nowMs),
    ...(conditions && conditions.length > 0 && { conditions }),
    object: shown,
  };
};

/** A table of one object, as a get or an event is answered. */
export const tableOf = (
  endpoint: Endpoint,
  object: KubernetesObject,
  form: TableForm,
  isFirst = true,
): KubernetesObject => {
  const resourceVersion = object.metadata?.resourceVersion;
  return {
    kind: 'Table',
    apiVersion: form.metaVersion,
    metadata: { ...(resourceVersion !== undefined && { resourceVersion }) },
    columnDefinitions: isFirst ? columnDefinitions(endpoint) : null,
    rows: [tableRow(endpoint, object, form)],
  };
};
