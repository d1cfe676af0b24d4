import type { ApiRequest, KubeResource } from '../../../../core/contract/index.ts';
import { at, textAt, type KubeObject } from '../../../kinds/kube-object.ts';
import { objectPath } from '../../../kinds/object-path.ts';
import { resourceName } from '../../../kinds/categories.ts';

export type ActionId =
  | 'scale'
  | 'restart'
  | 'pauseRollout'
  | 'resumeRollout'
  | 'cordon'
  | 'uncordon'
  | 'suspend'
  | 'resume'
  | 'delete';
export type Change = Omit<ApiRequest, 'cluster'>;

export interface ObjectTarget {
  readonly resource: KubeResource;
  readonly namespace: string;
  readonly name: string;
}

const RESTARTABLE = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);

/** What can be done to an object, in the order of the buttons. */
export const actionsFor = ({ resource }: ObjectTarget, object: KubeObject | undefined): ActionId[] => [
  ...(resource.subresources.includes('scale') ? (['scale'] as const) : []),
  ...(RESTARTABLE.has(resource.kind) ? (['restart'] as const) : []),
  ...(resource.kind === 'Node'
    ? ([at(object, 'spec', 'unschedulable') === true ? 'uncordon' : 'cordon'] as const)
    : []),
  ...(resource.kind === 'CronJob'
    ? ([at(object, 'spec', 'suspend') === true ? 'resume' : 'suspend'] as const)
    : []),
  'delete',
];

export const replicasOf = (object: KubeObject | undefined): number =>
  Number(textAt(object, 'spec', 'replicas') || 1);

const merge = (target: ObjectTarget, body: unknown, subresource = ''): Change => ({
  method: 'PATCH',
  path: objectPath(target.resource, target.namespace, target.name) + subresource,
  query: { fieldManager: 'pilothouse' },
  contentType: 'application/merge-patch+json',
  body,
});

export const scaleChange = (target: ObjectTarget, replicas: number): Change =>
  merge(target, { spec: { replicas } }, '/scale');

/** As `kubectl rollout restart`: a new annotation on the template is a new template. */
export const restartChange = (target: ObjectTarget, at: Date): Change =>
  merge(target, {
    spec: {
      template: {
        metadata: {
          annotations: { 'kubectl.kubernetes.io/restartedAt': at.toISOString().replace(/\.\d+/, '') },
        },
      },
    },
  });

/** What can be done to many objects of a kind, besides deleting them. */
export type BulkAction = 'restart' | 'scale' | 'label';

export const bulkActionsFor = (resource: KubeResource): BulkAction[] => [
  ...(RESTARTABLE.has(resource.kind) ? (['restart'] as const) : []),
  ...(resource.subresources.includes('scale') ? (['scale'] as const) : []),
  ...(resource.verbs.includes('patch') ? (['label'] as const) : []),
];

/** `key=value` sets a label, `key-` removes it, as `kubectl label` has it. */
export const readLabel = (
  text: string,
): { readonly key: string; readonly value: string | null } | undefined => {
  const [, key, value, removed] =
    /^((?:[a-z0-9.-]{1,253}\/)?[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?)(?:=([A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?|)|(-))$/.exec(
      text.trim(),
    ) ?? [];
  if (key === undefined) return undefined;
  return { key, value: removed === undefined ? (value ?? '') : null };
};

export const labelChange = (
  target: ObjectTarget,
  { key, value }: { readonly key: string; readonly value: string | null },
): Change => merge(target, { metadata: { labels: { [key]: value } } });

export const unschedulableChange = (target: ObjectTarget, isUnschedulable: boolean): Change =>
  merge(target, { spec: { unschedulable: isUnschedulable ? true : null } });

/** As `kubectl rollout pause` and `resume`. */
export const pausedChange = (target: ObjectTarget, isPaused: boolean): Change =>
  merge(target, { spec: { paused: isPaused ? true : null } });

export const suspendChange = (target: ObjectTarget, isSuspended: boolean): Change =>
  merge(target, { spec: { suspend: isSuspended } });

/** `uid` makes sure that it is the object that was shown, and not a recreated one with the same name. */
export const deleteChange = (
  target: ObjectTarget,
  options: { readonly uid: string; readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan' },
): Change => ({
  method: 'DELETE',
  path: objectPath(target.resource, target.namespace, target.name),
  body: {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: options.propagationPolicy,
    ...(options.uid !== '' && { preconditions: { uid: options.uid } }),
  },
});

/** The words after `kubectl` that do the same. */
export const kubectlWords = (
  action: ActionId,
  { resource, name }: ObjectTarget,
  replicas = 0,
): readonly string[] => {
  const target = `${resourceName(resource)}/${name}`;
  switch (action) {
    case 'scale':
      return ['scale', target, `--replicas=${replicas}`];
    case 'restart':
      return ['rollout', 'restart', target];
    case 'pauseRollout':
    case 'resumeRollout':
      return ['rollout', action === 'pauseRollout' ? 'pause' : 'resume', target];
    case 'cordon':
    case 'uncordon':
      return [action, name];
    case 'suspend':
    case 'resume':
      return [
        'patch',
        target,
        '--type=merge',
        '-p',
        JSON.stringify({ spec: { suspend: action === 'suspend' } }),
      ];
    case 'delete':
      return ['delete', target];
  }
};
