import { computed, onScopeDispose, shallowRef, watch } from 'vue';
import { useCall } from '../../../composables/useCall.ts';
import { usePoll } from '../../../composables/usePoll.ts';
import { listAt, textAt, type KubeObject } from '../../../kinds/kube-object.ts';
import { capacityByNode, totalCapacity, type Capacity } from './capacity.ts';
import { useRows } from './useRows.ts';
import { countPods, failingFamilies, nodeFacts, podFacts, podsByNode } from './workload.ts';

/** Requests stand only in whole objects, which are read again after changes and now and then. */
const CAPACITY_PAUSE_MS = 60_000;
const CAPACITY_AFTER_CHANGE_MS = 3_000;
const PAGE_PODS = 250;
const PAGES_MAX = 8;

/** Nodes and pods of one cluster, and how much of the nodes is asked for. */
export const useWorkload = (cluster: string) => {
  const ask = useCall('kube.request');
  const nodeRows = useRows(cluster, { group: '', version: 'v1', plural: 'nodes' });
  const podRows = useRows(cluster, { group: '', version: 'v1', plural: 'pods' });
  const nodes = computed(() => nodeFacts(nodeRows.columns.value, nodeRows.rows.value));
  const pods = computed(() => podFacts(podRows.columns.value, podRows.rows.value));
  const capacity = shallowRef<ReadonlyMap<string, Capacity>>(new Map());
  /** More pods than are read: requests are at least what is shown. */
  const isPartial = shallowRef(false);

  const read = async (path: string, query: Record<string, string>): Promise<KubeObject | undefined> => {
    const result = await ask.run({ cluster, method: 'GET', path, query });
    return result.ok && result.value.ok ? (result.value.body as KubeObject) : undefined;
  };
  const readPods = async (): Promise<{ items: KubeObject[]; isAll: boolean } | undefined> => {
    const items: KubeObject[] = [];
    let next = '';
    for (let page = 0; page < PAGES_MAX; page += 1) {
      const list = await read('/api/v1/pods', {
        limit: `${PAGE_PODS}`,
        ...(next !== '' && { continue: next }),
      });
      if (!list) return undefined;
      items.push(...listAt(list, 'items'));
      next = textAt(list, 'metadata', 'continue');
      if (next === '') return { items, isAll: true };
    }
    return { items, isAll: false };
  };
  const readCapacity = async (): Promise<void> => {
    const list = await read('/api/v1/nodes', {});
    const known = await readPods();
    // What cannot be read stays as it was: an API server that is down is told elsewhere.
    if (!list || !known) return;
    capacity.value = capacityByNode(listAt(list, 'items'), known.items);
    isPartial.value = !known.isAll;
  };
  const { hurry } = usePoll(readCapacity, CAPACITY_PAUSE_MS);
  let soon: ReturnType<typeof setTimeout> | undefined;
  watch([nodeRows.rows, podRows.rows], () => {
    soon ??= setTimeout(() => {
      soon = undefined;
      hurry();
    }, CAPACITY_AFTER_CHANGE_MS);
  });
  onScopeDispose(() => clearTimeout(soon));

  return {
    nodes,
    pods,
    counts: computed(() => countPods(pods.value)),
    byNode: computed(() => podsByNode(pods.value)),
    families: computed(() => failingFamilies(pods.value)),
    capacity,
    total: computed(() => totalCapacity(capacity.value)),
    isPartial,
    /** A user of one namespace reads its pods, and no nodes. */
    isListed: computed(
      () => podRows.isListed.value && (nodeRows.isListed.value || nodeRows.health.value.phase === 'refused'),
    ),
    health: nodeRows.health,
    waitingWhy: nodeRows.waitingWhy,
    refusal: computed(() =>
      nodeRows.health.value.phase === 'refused' ? nodeRows.health.value.error : undefined,
    ),
  };
};
