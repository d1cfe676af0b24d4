import { computed, shallowRef, type ComputedRef, type Ref } from 'vue';
import type { KubeResource } from '../../core/contract/index.ts';
import { useCall } from '../composables/useCall.ts';
import { usePoll } from '../composables/usePoll.ts';
import { objectPath } from '../kinds/object-path.ts';
import { useDiscoveryStore } from '../stores/discovery.ts';
import { usageByKey, type Usage } from './usage.ts';

const METRICS_GROUP = 'metrics.k8s.io';
/** The resolution of metrics-server: asking more often gets the same answer. */
const PAUSE_MS = 15_000;

/**
 * CPU and memory of the rows of a list, where the cluster measures them. The API has no watch, so it is asked now and
 * again while the list is seen.
 */
export const useUsage = (
  cluster: string,
  resource: KubeResource,
  namespace: string | null,
): { readonly isMeasured: ComputedRef<boolean>; readonly usage: Ref<ReadonlyMap<string, Usage>> } => {
  const discovery = useDiscoveryStore();
  const ask = useCall('kube.request');
  const usage = shallowRef<ReadonlyMap<string, Usage>>(new Map());
  const source = computed(() =>
    resource.group === ''
      ? discovery.resources.find(({ group, plural }) => group === METRICS_GROUP && plural === resource.plural)
      : undefined,
  );
  usePoll(async () => {
    if (!source.value) return;
    const result = await ask.run({
      cluster,
      method: 'GET',
      path: objectPath(source.value, namespace ?? ''),
    });
    // A measurement that failed is missing, not old.
    usage.value = result.ok && result.value.ok ? usageByKey(result.value.body) : new Map();
  }, PAUSE_MS);
  return { isMeasured: computed(() => source.value !== undefined && usage.value.size > 0), usage };
};
