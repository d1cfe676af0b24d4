import type { KubernetesObject } from '../../../api/meta/index.ts';
import { has, obj, objs, type Obj } from '../../../api/validation/read.ts';
import type { Draft, Strategy } from '../generic/strategy.ts';

/**
 * Fields of feature gates that are off in every release (ClusterTrustBundleProjection, PodCertificateRequest,
 * MaxUnavailableStatefulSet) are taken from those alone who have them: what no kubelet and no controller acts on must
 * not look as if it were in force.
 */
const SOURCES = ['clusterTrustBundle', 'podCertificate'] as const;

/** Where the spec of a pod stands in each kind that has one. */
const POD_SPECS: Readonly<Record<string, readonly string[] | undefined>> = {
  pods: ['spec'],
  podtemplates: ['template', 'spec'],
  replicationcontrollers: ['spec', 'template', 'spec'],
  'replicasets.apps': ['spec', 'template', 'spec'],
  'deployments.apps': ['spec', 'template', 'spec'],
  'statefulsets.apps': ['spec', 'template', 'spec'],
  'daemonsets.apps': ['spec', 'template', 'spec'],
  'jobs.batch': ['spec', 'template', 'spec'],
  'cronjobs.batch': ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
};

const at = (object: Obj, path: readonly string[]): Obj => path.reduce(obj, object);

/** A copy with another value at the path, which is there. */
const withAt = (object: Obj, [first, ...rest]: readonly string[], value: Obj): Obj =>
  first === undefined ? value : { ...object, [first]: withAt(obj(object, first), rest, value) };

const sourcesOf = (spec: Obj): readonly Obj[] =>
  objs(spec, 'volumes').flatMap((volume) => objs(obj(volume, 'projected'), 'sources'));

const without = (object: Obj, names: readonly string[]): Obj =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

const withoutSources = (spec: Obj, names: readonly string[]): Obj => ({
  ...spec,
  volumes: objs(spec, 'volumes').map((volume) => {
    if (!has(volume, 'projected')) return volume;
    const projected = obj(volume, 'projected');
    if (!has(projected, 'sources')) return volume;
    return {
      ...volume,
      projected: {
        ...projected,
        sources: objs(projected, 'sources').map((source) => without(source, names)),
      },
    };
  }),
});

const dropSources = (draft: Draft, old: Obj, path: readonly string[]): void => {
  const [sources, before] = [sourcesOf(at(draft, path)), sourcesOf(at(old, path))];
  const dropped = SOURCES.filter(
    (name) => sources.some((source) => has(source, name)) && !before.some((source) => has(source, name)),
  );
  if (dropped.length > 0) Object.assign(draft, withAt(draft, path, withoutSources(at(draft, path), dropped)));
};

const ROLLING = ['spec', 'updateStrategy', 'rollingUpdate'] as const;

const dropMaxUnavailable = (draft: Draft, old: Obj): void => {
  const rolling = at(draft, ROLLING);
  if (has(rolling, 'maxUnavailable') && !has(at(old, ROLLING), 'maxUnavailable'))
    Object.assign(draft, withAt(draft, ROLLING, without(rolling, ['maxUnavailable'])));
};

/** The strategy of a resource that leaves such fields out. */
export const withoutGatedFields = (name: string, strategy: Strategy): Strategy => {
  const path = POD_SPECS[name];
  if (path === undefined) return strategy;
  const drop = (draft: Draft, old: Obj): void => {
    dropSources(draft, old, path);
    if (name === 'statefulsets.apps') dropMaxUnavailable(draft, old);
  };
  return {
    ...strategy,
    prepareForCreate(draft, context) {
      drop(draft, {});
      strategy.prepareForCreate?.(draft, context);
    },
    prepareForUpdate(draft, old: KubernetesObject, context) {
      drop(draft, old as Obj);
      strategy.prepareForUpdate?.(draft, old, context);
    },
  };
};
