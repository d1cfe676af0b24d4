import { shallowRef, type ShallowRef } from 'vue';
import type { FoundItem } from '../../../core/contract/index.ts';
import { useStream } from '../../composables/useStream.ts';
import { useDiscoveryStore } from '../../stores/discovery.ts';
import { indexed, type IndexedObject } from './object-search.ts';

export interface IndexState {
  readonly objectCount: number;
  /** All kinds were listed at least once. */
  readonly isComplete: boolean;
  readonly isCut: boolean;
  readonly refused: readonly string[];
}

/** All objects of a cluster, for the life of the calling scope. A window that no one sees keeps none up to date. */
export const useObjectIndex = (
  cluster: string,
): {
  readonly objects: () => Iterable<IndexedObject>;
  /** A new value whenever the objects changed. */
  readonly state: ShallowRef<IndexState>;
} => {
  const discovery = useDiscoveryStore();
  const all = new Map<string, IndexedObject>();
  const state = shallowRef<IndexState>({ objectCount: 0, isComplete: false, isCut: false, refused: [] });
  let progress: Omit<IndexState, 'objectCount'> = { isComplete: false, isCut: false, refused: [] };

  const take = (item: FoundItem): void => {
    switch (item.kind) {
      case 'objects':
        for (const object of item.objects) {
          const resource = discovery.byName.get(object.resource);
          if (resource)
            all.set(`${object.resource}/${object.namespace}/${object.name}`, indexed(object, resource));
        }
        return;
      case 'gone':
        for (const key of item.keys) all.delete(key);
        return;
      case 'state':
        progress = {
          isComplete: item.listedCount >= item.kindCount,
          isCut: item.isCut,
          refused: item.refused,
        };
    }
  };
  useStream(
    'kube.search',
    { cluster },
    (items) => {
      items.forEach(take);
      state.value = { ...progress, objectCount: all.size };
    },
    { pauseWhenHidden: true, onOpening: () => all.clear() },
  );
  return { objects: () => all.values(), state };
};
