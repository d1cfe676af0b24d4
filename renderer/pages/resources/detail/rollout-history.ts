import { jsonText } from '../../../../core/api/meta/json-text.ts';
import { at, entriesAt, fieldsOf, listAt, textAt, type KubeObject } from '../../../kinds/kube-object.ts';
import { objectPath } from '../../../kinds/object-path.ts';
import type { Change, ObjectTarget } from './object-actions.ts';

/** One template that a workload once had, and can have again. */
export interface Revision {
  readonly number: number;
  /** Of the ReplicaSet or ControllerRevision that keeps it. */
  readonly name: string;
  readonly createdAtMs: number | undefined;
  readonly cause: string;
  readonly images: readonly string[];
  readonly template: KubeObject;
  readonly isCurrent: boolean;
  /** Pods that run it now; undefined where the keeper does not count. */
  readonly pods: number | undefined;
  readonly keeper: KubeObject;
}

const HASH_LABEL = 'pod-template-hash';
const REVISION = 'deployment.kubernetes.io/revision';
const CAUSE = 'kubernetes.io/change-cause';
const HAS_HISTORY = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

export const hasHistory = (kind: string, group: string): boolean => group === 'apps' && HAS_HISTORY.has(kind);

/** Which objects keep the revisions of this kind. */
export const keeperPlural = (kind: string): string =>
  kind === 'Deployment' ? 'replicasets' : 'controllerrevisions';

const isOwnedBy = (keeper: KubeObject, uid: string): boolean =>
  listAt(keeper, 'metadata', 'ownerReferences').some(
    (owner) => owner['controller'] === true && textAt(owner, 'uid') === uid,
  );

/** With keys in one order, so that equal templates are equal texts. */
const canonical = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(canonical)
    : typeof value === 'object' && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, inner]) => [key, canonical(inner)]),
        )
      : value;

/** Without what the controller adds: the hash of the template, and the word of a patch. */
export const plainTemplate = (template: unknown): KubeObject => {
  const { $patch: _patch, metadata, ...rest } = fieldsOf(template);
  const { labels, creationTimestamp: _created, ...others } = fieldsOf(metadata);
  const { [HASH_LABEL]: _hash, ...kept } = fieldsOf(labels);
  return { metadata: { ...others, ...(Object.keys(kept).length > 0 && { labels: kept }) }, ...rest };
};
const isSame = (a: unknown, b: unknown): boolean =>
  jsonText(canonical(plainTemplate(a))) === jsonText(canonical(plainTemplate(b)));

const imagesOf = (template: unknown): string[] =>
  ['initContainers', 'containers'].flatMap((field) =>
    listAt(template, 'spec', field).map((container) => textAt(container, 'image')),
  );

/** Newest first. */
export const revisionsOf = (object: KubeObject, keepers: readonly KubeObject[]): Revision[] => {
  const isDeployment = textAt(object, 'kind') === 'Deployment';
  const uid = textAt(object, 'metadata', 'uid');
  const revisions = keepers
    .filter((keeper) => isOwnedBy(keeper, uid))
    .map((keeper) => {
      const template = fieldsOf(
        isDeployment ? at(keeper, 'spec', 'template') : at(keeper, 'data', 'spec', 'template'),
      );
      const createdAtMs = Date.parse(textAt(keeper, 'metadata', 'creationTimestamp'));
      const pods = Number(textAt(keeper, 'status', 'replicas') || 0);
      return {
        number: Number(
          isDeployment ? textAt(keeper, 'metadata', 'annotations', REVISION) : textAt(keeper, 'revision'),
        ),
        name: textAt(keeper, 'metadata', 'name'),
        createdAtMs: Number.isNaN(createdAtMs) ? undefined : createdAtMs,
        cause: textAt(keeper, 'metadata', 'annotations', CAUSE),
        images: imagesOf(template),
        template: plainTemplate(template),
        pods: isDeployment ? pods : undefined,
        keeper,
      };
    })
    .filter(({ number }) => number > 0)
    .sort((a, b) => b.number - a.number);
  const template = at(object, 'spec', 'template');
  // The other controllers give the number of the present template to its revision, also after going back.
  return revisions.map((revision, index) => ({
    ...revision,
    isCurrent: isDeployment ? isSame(revision.template, template) : index === 0,
  }));
};

/** Of the Deployment, never taken from a ReplicaSet. */
const KEPT_ANNOTATIONS = [
  'kubectl.kubernetes.io/last-applied-configuration',
  REVISION,
  'deployment.kubernetes.io/revision-history',
  'deployment.kubernetes.io/desired-replicas',
  'deployment.kubernetes.io/max-replicas',
  'deprecated.deployment.rollback.to',
];

const restoredAnnotations = (object: KubeObject, keeper: KubeObject): Record<string, string> =>
  Object.fromEntries([
    ...entriesAt(object, 'metadata', 'annotations').filter(([key]) => KEPT_ANNOTATIONS.includes(key)),
    ...entriesAt(keeper, 'metadata', 'annotations').filter(([key]) => !KEPT_ANNOTATIONS.includes(key)),
  ]);

/** The request of `kubectl rollout undo --to-revision`. */
export const undoChange = (target: ObjectTarget, object: KubeObject, revision: Revision): Change => {
  const path = objectPath(target.resource, target.namespace, target.name);
  const query = { fieldManager: 'pilothouse' };
  if (target.resource.kind !== 'Deployment')
    return {
      method: 'PATCH',
      path,
      query,
      contentType: 'application/strategic-merge-patch+json',
      body: revision.keeper['data'],
    };
  const template = fieldsOf(at(revision.keeper, 'spec', 'template'));
  const metadata = fieldsOf(template['metadata']);
  const { [HASH_LABEL]: _hash, ...labels } = fieldsOf(metadata['labels']);
  return {
    method: 'PATCH',
    path,
    query,
    contentType: 'application/json-patch+json',
    body: [
      {
        op: 'replace',
        path: '/spec/template',
        value: { ...template, metadata: { ...metadata, labels } },
      },
      {
        op: 'replace',
        path: '/metadata/annotations',
        value: restoredAnnotations(object, revision.keeper),
      },
    ],
  };
};

/** Why kubectl would not go back: to what it has, or while it is paused. */
export const undoObstacle = (object: KubeObject, revision: Revision): 'current' | 'paused' | undefined => {
  if (revision.isCurrent) return 'current';
  return at(object, 'spec', 'paused') === true ? 'paused' : undefined;
};
