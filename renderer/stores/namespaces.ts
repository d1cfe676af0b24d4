import { defineStore } from 'pinia';
import { computed, ref } from 'vue';
import { useClusterStore } from './clusters.ts';
import { readRemembered, remember } from './remembered.ts';

const storageKey = (cluster: string): string => `pilothouse.namespaces.${cluster}`;
/** More are asked for as all namespaces and narrowed here. */
const NAMESPACES_MAX = 64;

/** Which namespaces the lists show, for each cluster; none means all. */
export const useNamespaceStore = defineStore('namespaces', () => {
  const clusters = useClusterStore();
  const changed = ref<Record<string, readonly string[]>>({});

  const chosen = computed<readonly string[]>(() => {
    const cluster = clusters.current?.id;
    if (cluster === undefined) return [];
    return changed.value[cluster] ?? (readRemembered(storageKey(cluster))?.split(',') ?? []).filter(Boolean);
  });

  const choose = (namespaces: readonly string[]): void => {
    const cluster = clusters.current?.id;
    if (cluster === undefined) return;
    const kept = [...new Set(namespaces)].sort().slice(0, NAMESPACES_MAX);
    changed.value = { ...changed.value, [cluster]: kept };
    remember(storageKey(cluster), kept.length > 0 ? kept.join(',') : undefined);
  };

  const toggle = (namespace: string): void =>
    choose(
      chosen.value.includes(namespace)
        ? chosen.value.filter((name) => name !== namespace)
        : [...chosen.value, namespace],
    );

  return { chosen, choose, toggle };
});
