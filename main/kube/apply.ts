import { parseApiVersion } from '../../core/api/meta/group-version.ts';
import { jsonText } from '../../core/api/meta/json-text.ts';
import { isJsonObject } from '../../core/api/meta/object-meta.ts';
import { isConflict, isNotFound, isStatusError, type StatusError } from '../../core/api/meta/status.ts';
import type { DiscoveredResource } from '../../core/client/index.ts';
import type { ApplyRequest, ApplyResult, FieldConflict, Refusal } from '../../core/contract/index.ts';
import type { ClusterConnection } from './connections.ts';
import { kubeFailure, refusalOf } from './failure.ts';
import { resourcePath } from './resource-path.ts';

type Json = Record<string, unknown>;

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** Upstream names the other manager in the message alone: `conflict with "kubectl" using apps/v1`. */
const MANAGER = /^conflict with "((?:[^"\\]|\\.)*)"/;

export const conflictsOf = (error: StatusError): FieldConflict[] =>
  (error.details?.causes ?? [])
    .filter((cause) => cause.reason === 'FieldManagerConflict')
    .map(({ field = '', message = '' }) => ({ manager: MANAGER.exec(message)?.[1] ?? '', field, message }));

/** Other failures are those of the request that follows, too. */
const takenFields = (error: unknown): FieldConflict[] => (isConflict(error) ? conflictsOf(error) : []);

/** Applying nothing new still may renew the time stamp of our own managed fields. */
const comparable = (object: Json): string => {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const { managedFields: _fields, resourceVersion: _version, ...rest } = metadata;
  return jsonText({ ...object, metadata: rest });
};

const invalid = (field: string, message: string, reason = 'FieldValueInvalid'): Refusal => ({
  code: 422,
  reason: 'Invalid',
  message,
  causes: [{ field, message, reason }],
});

/** As the server says it of any other field. */
const required = (field: string): Refusal => ({
  ...invalid(field, 'Required value', 'FieldValueRequired'),
  message: `${field}: Required value`,
});

const refusedBeforehand = (refusal: Refusal): ApplyResult => ({
  outcome: 'refused',
  live: null,
  result: null,
  namespace: '',
  conflicts: [],
  refusal,
});

const findResource = async (
  connection: ClusterConnection,
  apiVersion: string,
  kind: string,
): Promise<DiscoveredResource | undefined> => {
  const gv = parseApiVersion(apiVersion);
  if (!gv) return undefined;
  const find = async (isFresh: boolean): Promise<DiscoveredResource | undefined> =>
    (await connection.discovery(isFresh)).resources.find(
      (resource) => resource.group === gv.group && resource.version === gv.version && resource.kind === kind,
    );
  // A CRD that an earlier document has just made is not in what was discovered before.
  return (await find(false)) ?? find(true);
};

/** Server-side apply of one object; what the server refuses is a result, what cannot be asked is a failure. */
export const applyObject = async (
  connection: ClusterConnection,
  request: ApplyRequest,
  signal: AbortSignal,
): Promise<ApplyResult> => {
  const { object, dryRun, force, fieldManager } = request;
  const apiVersion = textOf(object['apiVersion']);
  const kind = textOf(object['kind']);
  const metadata: Json = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const name = textOf(metadata['name']);
  if (apiVersion === '') return refusedBeforehand(required('apiVersion'));
  if (kind === '') return refusedBeforehand(required('kind'));
  if (name === '') return refusedBeforehand(required('metadata.name'));
  try {
    const resource = await findResource(connection, apiVersion, kind);
    if (!resource)
      return refusedBeforehand(
        invalid(
          'kind',
          `the server does not serve ${kind} in ${apiVersion}; install its CustomResourceDefinition first`,
        ),
      );
    const namespace = resource.namespaced ? textOf(metadata['namespace']) || request.defaultNamespace : '';
    const path = resourcePath(resource, resource.namespaced ? namespace : null, name);
    const { client } = connection;
    const live = await client
      .json<Json>({ method: 'GET', path, signal, isExact: true })
      .catch((error: unknown) => {
        if (isNotFound(error)) return null;
        throw error;
      });
    const send = (options: { readonly force: boolean; readonly dryRun: boolean }): Promise<Json> =>
      client.json<Json>({
        method: 'PATCH',
        path,
        signal,
        isExact: true,
        query: {
          fieldManager,
          force: options.force ? 'true' : undefined,
          dryRun: options.dryRun ? 'All' : undefined,
          fieldValidation: 'Strict',
        },
        contentType: 'application/apply-patch+yaml',
        body: {
          ...object,
          metadata: { ...metadata, ...(resource.namespaced && { namespace }) },
        },
      });
    try {
      // The server does not say what force takes from whom: a dry run without it does.
      const taken =
        force && live ? await send({ force: false, dryRun: true }).then(() => [], takenFields) : [];
      const result = await send({ force, dryRun });
      const outcome = !live
        ? 'created'
        : comparable(live) === comparable(result)
          ? 'unchanged'
          : 'configured';
      return { outcome, live, result, namespace, conflicts: taken, refusal: null };
    } catch (error) {
      if (!isStatusError(error)) throw error;
      const conflicts = isConflict(error) ? conflictsOf(error) : [];
      const outcome = conflicts.length > 0 ? 'conflict' : 'refused';
      return { outcome, live, result: null, namespace, conflicts, refusal: refusalOf(error) };
    }
  } catch (error) {
    if (isStatusError(error)) return refusedBeforehand(refusalOf(error));
    throw kubeFailure(error);
  }
};
