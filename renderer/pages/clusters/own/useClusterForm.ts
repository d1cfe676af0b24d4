import { computed, shallowRef } from 'vue';
import type { ClusterDefaults } from '../../../../core/contract/index.ts';
import { useLatestCall } from '../../../composables/useLatestCall.ts';
import { useClusterStore } from '../../../stores/clusters.ts';
import { useOwnClusterStore } from '../../../stores/own-clusters.ts';
import { errorsOf, formOf, wishesOf, type ClusterForm } from './cluster-form.ts';

/** The form about a new cluster: its defaults from the host, its state, and the way to send it. */
export const useClusterForm = () => {
  const clusters = useClusterStore();
  const own = useOwnClusterStore();
  const ask = useLatestCall('clusters.defaults');
  const defaults = shallowRef<ClusterDefaults>();
  const form = shallowRef<ClusterForm>();
  const taken = computed(() =>
    clusters.clusters.filter(({ origin }) => origin === 'local').map(({ name }) => name),
  );
  const errors = computed(() => (form.value ? errorsOf(form.value, taken.value) : {}));
  const isValid = computed(() => form.value !== undefined && Object.keys(errors.value).length === 0);

  const load = async (): Promise<void> => {
    form.value = undefined;
    const result = await ask.run(undefined);
    if (!result?.ok) return;
    defaults.value = result.value;
    form.value = formOf(result.value);
  };
  const submit = async (): Promise<boolean> =>
    form.value !== undefined && isValid.value && (await own.create(wishesOf(form.value)));

  return { defaults, form, errors, isValid, load, loading: ask.pending, loadError: ask.error, submit };
};
