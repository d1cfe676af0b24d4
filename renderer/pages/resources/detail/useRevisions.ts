import { computed, ref, shallowRef, watch, type ComputedRef, type Ref } from 'vue';
import { useCall } from '../../../composables/useCall.ts';
import { listAt, podSelectorsOf, textAt, type KubeObject } from '../../../kinds/kube-object.ts';
import { keeperPlural, revisionsOf, type Revision } from './rollout-history.ts';

/** More are never kept: `revisionHistoryLimit` is 10 unless somebody raised it. */
const KEEPERS_MAX = 500;

/** The revisions of a workload, read again whenever its controller has written something about it. */
export const useRevisions = (
  cluster: string,
  namespace: string,
  object: () => KubeObject,
): {
  readonly revisions: ComputedRef<readonly Revision[]>;
  readonly isRead: Readonly<Ref<boolean>>;
  readonly problem: Readonly<Ref<string | undefined>>;
  read(): Promise<void>;
} => {
  const call = useCall('kube.request');
  const keepers = shallowRef<readonly KubeObject[]>([]);
  const isRead = ref(false);
  const problem = ref<string>();
  let isReading = false;
  let isStale = false;

  const read = async (): Promise<void> => {
    if (isReading) {
      isStale = true;
      return;
    }
    isReading = true;
    do {
      isStale = false;
      const result = await call.run({
        cluster,
        method: 'GET',
        path: `/apis/apps/v1/namespaces/${encodeURIComponent(namespace)}/${keeperPlural(textAt(object(), 'kind'))}`,
        query: {
          labelSelector: podSelectorsOf(object())?.labelSelector ?? '',
          limit: String(KEEPERS_MAX),
        },
      });
      if (!result.ok) problem.value = result.error.message;
      else if (!result.value.ok) problem.value = result.value.refusal.message;
      else {
        problem.value = undefined;
        keepers.value = listAt(result.value.body, 'items');
        isRead.value = true;
      }
    } while (isStale);
    isReading = false;
  };
  watch(
    () => textAt(object(), 'metadata', 'resourceVersion'),
    () => void read(),
    { immediate: true },
  );
  return { revisions: computed(() => revisionsOf(object(), keepers.value)), isRead, problem, read };
};
