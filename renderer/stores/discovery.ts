import { defineStore } from 'pinia';
import { computed, shallowRef, watch } from 'vue';
import type { ContractError, KubeDiscovery, KubeResource } from '../../core/contract/index.ts';
import { useConnection } from '../bridge/index.ts';
import { useLatestCall } from '../composables/useLatestCall.ts';
import { usePageVisible } from '../composables/usePageVisible.ts';
import { browsable, resourceName } from '../kinds/categories.ts';
import { useClusterHealthStore } from './cluster-health.ts';
import { useClusterStore } from './clusters.ts';
import { followDefinitions } from './follow-definitions.ts';

/** A cluster that comes up, or whose kubeconfig is renewed, is found without a click. */
const ASK_AGAIN_MS = 10_000;

/** What the chosen cluster offers. */
export const useDiscoveryStore = defineStore('discovery', () => {
  const clusters = useClusterStore();
  const health = useClusterHealthStore();
  const connection = useConnection();
  const ask = useLatestCall('kube.discovery');
  const answer = shallowRef<{ readonly cluster: string; readonly discovery: KubeDiscovery }>();
  const error = shallowRef<ContractError>();

  const load = async (isFresh: boolean): Promise<void> => {
    const cluster = clusters.current?.id;
    // A lost host is told as such; a new wire asks again.
    if (cluster === undefined || !connection.client.value || clusters.pendingPlugin) return;
    const result = await ask.run({ cluster, isFresh });
    // The user may have gone to another cluster while this one was asked.
    if (!result || clusters.current?.id !== cluster) return;
    if (result.ok || result.error.reason === 'Unavailable')
      health.note(cluster, result.ok ? undefined : result.error.message);
    if (result.ok) {
      answer.value = { cluster, discovery: result.value };
      error.value = undefined;
    } else error.value = result.error;
  };

  watch(
    [() => clusters.current?.id, connection.client, () => clusters.pendingPlugin],
    ([cluster], [before]) => {
      if (cluster !== before) error.value = undefined;
      void load(false);
    },
    { immediate: true },
  );

  followDefinitions(
    () => (answer.value ? clusters.current?.id : undefined),
    () => void load(true),
  );

  const visible = usePageVisible();
  let again: ReturnType<typeof setTimeout> | undefined;
  watch([error, visible], ([failed, isSeen]) => {
    clearTimeout(again);
    if (failed && isSeen) again = setTimeout(() => void load(false), ASK_AGAIN_MS);
  });
  // Discovered again when the kubeconfig was replaced, because the result may differ.
  watch(
    () => clusters.list,
    () => {
      if (error.value) void load(false);
    },
  );

  const discovery = computed(() =>
    answer.value?.cluster === clusters.current?.id ? answer.value?.discovery : undefined,
  );
  const resources = computed<readonly KubeResource[]>(() => discovery.value?.resources ?? []);
  const byName = computed(
    () => new Map(browsable(resources.value).map((resource) => [resourceName(resource), resource])),
  );

  /** By apiVersion and kind, in exactly that version where the server still has it. */
  const findKind = (apiVersion: string, kind: string): KubeResource | undefined => {
    const [version = '', group = ''] = apiVersion.split('/').reverse();
    const ofGroup = resources.value.filter((each) => each.kind === kind && each.group === group);
    return ofGroup.find((each) => each.version === version) ?? ofGroup.find((each) => each.isPreferred);
  };

  return {
    discovery,
    resources,
    byName,
    error,
    loading: ask.pending,
    serverVersion: computed(() => discovery.value?.serverVersion ?? ''),
    findKind,
    reload: () => load(true),
  };
});
