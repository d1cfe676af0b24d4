import { controllerOf } from '../../api/meta/object-meta.ts';
import type { IndexFunction, Indexers, Pod, Store, Stored } from '../../client/index.ts';

const INDEX = 'workloadController';

const controllerUid: IndexFunction<Pod> = (pod) => [
  controllerOf(pod)?.uid ?? `orphans of ${pod.metadata.namespace ?? ''}`,
];

/** Shared by all controllers of pods: an index of one name is one function. */
export const POD_INDEXERS: Indexers<Pod> = { [INDEX]: controllerUid };

export const podsControlledBy = (
  pods: Store<Pod>,
  owner: { readonly metadata: { readonly uid: string } },
): Stored<Pod>[] => pods.byIndex(INDEX, owner.metadata.uid);

/** The pods of an owner, and those of no one in its namespace, which it may adopt. */
export const podsFor = (
  pods: Store<Pod>,
  owner: { readonly metadata: { readonly uid: string; readonly namespace?: string } },
): Stored<Pod>[] => [
  ...podsControlledBy(pods, owner),
  ...pods.byIndex(INDEX, `orphans of ${owner.metadata.namespace ?? ''}`),
];
