import type { IndexFunction, Indexers, Pod, Store, Stored } from '../../client/index.ts';

const NODE_INDEX = 'nodeName';

const nodeName: IndexFunction<Pod> = ({ spec }) => (spec?.nodeName ? [spec.nodeName] : []);

/** Pods by the node that they are bound to; one function, since controllers share the informer of pods. */
export const PODS_BY_NODE: Indexers<Pod> = { [NODE_INDEX]: nodeName };

export const podsOnNode = (pods: Store<Pod>, node: string): Stored<Pod>[] => pods.byIndex(NODE_INDEX, node);
