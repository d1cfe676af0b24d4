import type { ApiRequest, ApplyResult, KubeResource } from '../../core/contract/index.ts';
import { fieldsOf, listAt, textAt, type KubeObject } from './kube-object.ts';
import { objectPath } from './object-path.ts';
import { withoutServerFields } from './server-fields.ts';

/** One request that takes a change back, and what it is about. */
export interface UndoStep {
  readonly title: string;
  readonly request: Omit<ApiRequest, 'cluster'>;
  /** The object is put back only while it has this generation, whatever became of its status. */
  readonly generation?: number;
}

type Target = Pick<KubeResource, 'group' | 'version' | 'plural' | 'namespaced' | 'kind'>;

/** With them goes what a recreated object cannot bring back: contents, data, or a machine. */
const NOT_RECREATED = new Set([
  'Namespace',
  'CustomResourceDefinition',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Node',
  'Event',
  'Lease',
]);
const CONTROLLER_UID_LABELS = ['controller-uid', 'batch.kubernetes.io/controller-uid'];

const without = (fields: unknown, names: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fieldsOf(fields)).filter(([name]) => !names.includes(name)));

/** A Job's controller generates its selector from the UID, which the new one will not have. */
const jobSpec = (spec: Record<string, unknown>): Record<string, unknown> => {
  if (spec['manualSelector'] === true) return spec;
  const template = fieldsOf(spec['template']);
  const metadata = fieldsOf(template['metadata']);
  return {
    ...without(spec, ['selector']),
    template: {
      ...template,
      metadata: { ...metadata, labels: without(metadata['labels'], CONTROLLER_UID_LABELS) },
    },
  };
};

/** A Job without labels of its own shows those of its pods. */
const jobMetadata = (metadata: Record<string, unknown>): Record<string, unknown> =>
  metadata['labels'] === undefined
    ? metadata
    : { ...metadata, labels: without(metadata['labels'], CONTROLLER_UID_LABELS) };

/** False also for what a controller recreates anyway. */
export const canRecreate = (kind: string, object?: KubeObject): boolean =>
  !NOT_RECREATED.has(kind) && listAt(object, 'metadata', 'ownerReferences').length === 0;

export const undoOfDelete = (resource: Target, object: KubeObject): UndoStep => {
  const namespace = textAt(object, 'metadata', 'namespace');
  const plain = withoutServerFields(object);
  const spec = fieldsOf(plain['spec']);
  const metadata = without(plain['metadata'], ['deletionTimestamp', 'deletionGracePeriodSeconds']);
  return {
    title: `${resource.kind} ${textAt(object, 'metadata', 'name')}`,
    request: {
      method: 'POST',
      path: objectPath(resource, namespace),
      query: { fieldManager: 'pilothouse' },
      body: {
        ...plain,
        metadata,
        ...(resource.kind === 'Pod' && { spec: without(spec, ['nodeName']) }),
        ...(resource.kind === 'Job' && { metadata: jobMetadata(metadata), spec: jobSpec(spec) }),
      },
    },
  };
};

/**
 * A created object is deleted, a changed one is put back as it was. Both say which object apply left, so a change that
 * another client has made since is a conflict and is not lost. Controllers write the status of an object as soon as it
 * changes: where there is a generation, it tells whether the object itself was changed.
 */
export const undoOfApply = (
  resource: Target,
  { outcome, live, result }: Pick<ApplyResult, 'outcome' | 'live' | 'result'>,
): UndoStep | undefined => {
  if (!result) return undefined;
  const name = textAt(result, 'metadata', 'name');
  const path = objectPath(resource, textAt(result, 'metadata', 'namespace'), name);
  const title = `${resource.kind} ${name}`;
  if (outcome === 'created')
    return {
      title,
      request: {
        method: 'DELETE',
        path,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          propagationPolicy: 'Background',
          preconditions: { uid: textAt(result, 'metadata', 'uid') },
        },
      },
    };
  if (outcome !== 'configured' || !live) return undefined;
  const metadata = fieldsOf(fieldsOf(live)['metadata']);
  const { generation } = fieldsOf(fieldsOf(result)['metadata']);
  return {
    title,
    ...(typeof generation === 'number' && { generation }),
    request: {
      method: 'PUT',
      path,
      query: { fieldManager: 'pilothouse' },
      body: {
        ...live,
        metadata: { ...metadata, resourceVersion: textAt(result, 'metadata', 'resourceVersion') },
      },
    },
  };
};
