import type { ApiRequest, KubeResource } from '../../../../core/contract/index.ts';
import type { IconName } from '../../../components/icon-names.ts';
import { at, textAt, type KubeObject } from '../../../kinds/kube-object.ts';
import { objectPath } from '../../../kinds/object-path.ts';
import { pluralKind, resourceName } from '../../../kinds/categories.ts';
import { t } from '../../../locales/i18n.ts';

export type Change = Omit<ApiRequest, 'cluster'>;

export interface ObjectTarget {
  readonly resource: KubeResource;
  readonly namespace: string;
  readonly name: string;
}

/** What an action is about to be done with. */
export interface ActionContext {
  readonly target: ObjectTarget;
  /** As it is now; not known where many are changed together. */
  readonly object: KubeObject | undefined;
  readonly podCount: number;
  /** As typed; the other actions ignore it. */
  readonly replicas: number;
  readonly at: Date;
}

export interface Consequence {
  readonly tone: 'ok' | 'warn' | 'error' | 'idle';
  readonly text: string;
}

/**
 * One action on an object, declared once: the dialogs, the menus, the palette and the history of actions follow. Its words
 * are `<id>.button`, `.title`, `.run` and `.done`; of many objects `bulk.<id>`, `bulk.<id>.title` and `.run`.
 */
export interface ObjectAction {
  readonly icon: IconName;
  /** Whether its button is shown; false also for what a page offers on its own. */
  isOffered(resource: KubeResource, object: KubeObject | undefined): boolean;
  consequences(context: ActionContext): readonly Consequence[];
  change(context: ActionContext): Change;
  /** The words after `kubectl` that do the same. */
  kubectl(context: Pick<ActionContext, 'target' | 'replicas'>): readonly string[];
  /** What that command reads from its standard input. */
  stdin?(context: Pick<ActionContext, 'target'>): string;
  /** What takes it back; absent where nothing can. */
  undo?(context: ActionContext & { readonly object: KubeObject }): Change;
  /** For many objects: what it means for all of them. */
  readonly bulk?: { consequences(replicas: string): readonly Consequence[] };
}

const RESTARTABLE = new Set(['Deployment', 'StatefulSet', 'DaemonSet']);
const isKind = (resource: KubeResource, kind: string): boolean => resource.kind === kind;

export const replicasOf = (object: KubeObject | undefined): number =>
  Number(textAt(object, 'spec', 'replicas') || 1);

const merge = (target: ObjectTarget, body: unknown, subresource = ''): Change => ({
  method: 'PATCH',
  path: objectPath(target.resource, target.namespace, target.name) + subresource,
  query: { fieldManager: 'pilothouse' },
  contentType: 'application/merge-patch+json',
  body,
});
const nameOf = ({ resource, name }: ObjectTarget): string => `${resourceName(resource)}/${name}`;

const scaleTo = (target: ObjectTarget, replicas: number): Change =>
  merge(target, { spec: { replicas } }, '/scale');
const setUnschedulable = (target: ObjectTarget, isUnschedulable: boolean): Change =>
  merge(target, { spec: { unschedulable: isUnschedulable ? true : null } });
/** As `kubectl rollout pause` and `resume`. */
const setPaused = (target: ObjectTarget, isPaused: boolean): Change =>
  merge(target, { spec: { paused: isPaused ? true : null } });
const setSuspended = (target: ObjectTarget, isSuspended: boolean): Change =>
  merge(target, { spec: { suspend: isSuspended } });
const suspendWords = (target: ObjectTarget, suspend: boolean): readonly string[] => [
  'patch',
  nameOf(target),
  '--type=merge',
  '-p',
  JSON.stringify({ spec: { suspend } }),
];

const evictionOf = ({ name, namespace }: ObjectTarget): object => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name, namespace },
});

const scaleConsequences = ({ object, replicas }: ActionContext): readonly Consequence[] => {
  const before = replicasOf(object);
  if (replicas === 0) return [{ tone: 'error', text: t('scale.none') }];
  if (replicas < before) return [{ tone: 'warn', text: t('scale.fewer', { count: before - replicas }) }];
  if (replicas > before) return [{ tone: 'ok', text: t('scale.more', { count: replicas - before }) }];
  return [{ tone: 'idle', text: t('scale.same') }];
};

/** Every action, in the order of the buttons. */
export const OBJECT_ACTIONS = {
  scale: {
    icon: 'updown',
    isOffered: ({ subresources }) => subresources.includes('scale'),
    consequences: scaleConsequences,
    change: ({ target, replicas }) => scaleTo(target, replicas),
    kubectl: ({ target, replicas }) => ['scale', nameOf(target), `--replicas=${replicas}`],
    undo: ({ target, object }) => scaleTo(target, replicasOf(object)),
    bulk: {
      consequences: (replicas) => (replicas.trim() === '0' ? [{ tone: 'error', text: t('scale.none') }] : []),
    },
  },
  restart: {
    icon: 'restart',
    isOffered: ({ kind }) => RESTARTABLE.has(kind),
    consequences: ({ podCount: count }) => [
      { tone: 'warn', text: t('restart.pods', { count }) },
      { tone: 'ok', text: t('restart.strategy') },
    ],
    /** As `kubectl rollout restart`: a new annotation on the template is a new template. */
    change: ({ target, at: time }) =>
      merge(target, {
        spec: {
          template: {
            metadata: {
              annotations: { 'kubectl.kubernetes.io/restartedAt': time.toISOString().replace(/\.\d+/, '') },
            },
          },
        },
      }),
    kubectl: ({ target }) => ['rollout', 'restart', nameOf(target)],
    bulk: { consequences: () => [{ tone: 'warn', text: t('bulk.restart.means') }] },
  },
  pauseRollout: {
    icon: 'pause',
    isOffered: () => false,
    consequences: ({ podCount: count }) => [
      { tone: 'warn', text: t('pauseRollout.text') },
      { tone: 'ok', text: t('pauseRollout.pods', { count }) },
    ],
    change: ({ target }) => setPaused(target, true),
    kubectl: ({ target }) => ['rollout', 'pause', nameOf(target)],
    undo: ({ target }) => setPaused(target, false),
  },
  resumeRollout: {
    icon: 'play',
    isOffered: () => false,
    consequences: () => [{ tone: 'ok', text: t('resumeRollout.text') }],
    change: ({ target }) => setPaused(target, false),
    kubectl: ({ target }) => ['rollout', 'resume', nameOf(target)],
    undo: ({ target }) => setPaused(target, true),
  },
  cordon: {
    icon: 'pause',
    isOffered: (resource, object) => isKind(resource, 'Node') && at(object, 'spec', 'unschedulable') !== true,
    consequences: ({ podCount: count }) => [
      { tone: 'warn', text: t('cordon.none') },
      { tone: 'ok', text: t('cordon.pods', { count }) },
    ],
    change: ({ target }) => setUnschedulable(target, true),
    kubectl: ({ target }) => ['cordon', target.name],
    undo: ({ target }) => setUnschedulable(target, false),
  },
  uncordon: {
    icon: 'play',
    isOffered: (resource, object) => isKind(resource, 'Node') && at(object, 'spec', 'unschedulable') === true,
    consequences: () => [{ tone: 'ok', text: t('uncordon.text') }],
    change: ({ target }) => setUnschedulable(target, false),
    kubectl: ({ target }) => ['uncordon', target.name],
    undo: ({ target }) => setUnschedulable(target, true),
  },
  suspend: {
    icon: 'pause',
    isOffered: (resource, object) => isKind(resource, 'CronJob') && at(object, 'spec', 'suspend') !== true,
    consequences: () => [{ tone: 'warn', text: t('suspend.text') }],
    change: ({ target }) => setSuspended(target, true),
    kubectl: ({ target }) => suspendWords(target, true),
    undo: ({ target }) => setSuspended(target, false),
  },
  resume: {
    icon: 'play',
    isOffered: (resource, object) => isKind(resource, 'CronJob') && at(object, 'spec', 'suspend') === true,
    consequences: () => [{ tone: 'ok', text: t('resume.text') }],
    change: ({ target }) => setSuspended(target, false),
    kubectl: ({ target }) => suspendWords(target, false),
    undo: ({ target }) => setSuspended(target, true),
  },
  evict: {
    icon: 'unplug',
    isOffered: ({ subresources, group }) => group === '' && subresources.includes('eviction'),
    consequences: () => [
      { tone: 'warn', text: t('evict.text') },
      { tone: 'ok', text: t('evict.budgets') },
    ],
    change: ({ target }) => ({
      method: 'POST',
      path: `${objectPath(target.resource, target.namespace, target.name)}/eviction`,
      body: evictionOf(target),
    }),
    stdin: ({ target }) => JSON.stringify(evictionOf(target)),
    // kubectl evicts only as a part of drain; the API is the same.
    kubectl: ({ target: { name, namespace } }) => [
      'create',
      '--raw',
      `/api/v1/namespaces/${namespace}/pods/${name}/eviction`,
      '-f',
      '-',
    ],
    bulk: { consequences: () => [{ tone: 'warn', text: t('bulk.evict.means') }] },
  },
} as const satisfies Readonly<Record<string, ObjectAction>>;

export type ChangeAction = keyof typeof OBJECT_ACTIONS;
export type ActionId = ChangeAction | 'delete';
const IDS = Object.keys(OBJECT_ACTIONS) as readonly ChangeAction[];

/** The declaration, as all of them look. */
export const actionOf = (id: ChangeAction): ObjectAction => OBJECT_ACTIONS[id];

/** What can be done to an object, in the order of the buttons. */
export const actionsFor = ({ resource }: ObjectTarget, object: KubeObject | undefined): ActionId[] => [
  ...IDS.filter((id) => actionOf(id).isOffered(resource, object)),
  'delete',
];

/** `Deployment web`, or `3 Deployments`. */
export const nameOfTargets = (kind: string, targets: readonly { readonly name: string }[]): string =>
  targets.length === 1
    ? `${kind} ${targets[0]!.name}`
    : t('delete.several', { count: targets.length, kinds: pluralKind(kind) });

/** What can be done to many objects of a kind, besides deleting them. */
export type BulkAction =
  | { [I in ChangeAction]: (typeof OBJECT_ACTIONS)[I] extends { bulk: object } ? I : never }[ChangeAction]
  | 'label';

export const bulkActionsFor = (resource: KubeResource): BulkAction[] => [
  ...IDS.filter((id): id is Exclude<BulkAction, 'label'> => {
    const action = actionOf(id);
    return action.bulk !== undefined && action.isOffered(resource, undefined);
  }),
  ...(resource.verbs.includes('patch') ? (['label'] as const) : []),
];

export const bulkIcon = (action: BulkAction): IconName =>
  action === 'label' ? 'editor' : actionOf(action).icon;

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
