import { computed, ref, shallowRef, type ComputedRef, type Ref, type ShallowRef } from 'vue';
import type { ActionPreview, ClusterAction } from '../../core/contract/index.ts';
import { useCall } from '../composables/useCall.ts';
import { useLatestCall } from '../composables/useLatestCall.ts';
import { consequencesOf, type Consequence } from './consequences.ts';
import { useRecordedAction } from './recorded-action.ts';

export interface Action {
  readonly preview: Readonly<ShallowRef<ActionPreview | undefined>>;
  /** The sentences of the preview; undefined until there is one. */
  readonly consequences: ComputedRef<readonly Consequence[] | undefined>;
  /** Why there is no preview. */
  readonly previewError: Readonly<Ref<string | undefined>>;
  /** Why the host did not begin. */
  readonly error: Readonly<Ref<string | undefined>>;
  readonly acting: Readonly<Ref<boolean>>;
  /** Asks what the action would do as things stand; a preview of another action before it is dropped. */
  ask(action: ClusterAction): Promise<void>;
  /** The id of the operation that began; undefined when the host refused, see `error`. */
  act(action: ClusterAction): Promise<string | undefined>;
  reset(): void;
}

/** Preview and start of an operation on one cluster, with what a form needs to show. */
export const useAction = (cluster: () => string): Action => {
  const previewing = useLatestCall('cluster.preview');
  const starting = useCall('cluster.act');
  const preview = shallowRef<ActionPreview>();
  const previewError = ref<string>();
  const error = ref<string>();
  const asked = shallowRef<ClusterAction>();
  const record = useRecordedAction();

  const reset = (): void => {
    asked.value = undefined;
    preview.value = undefined;
    previewError.value = undefined;
    error.value = undefined;
  };

  return {
    preview,
    previewError,
    error,
    acting: starting.pending,
    consequences: computed(() =>
      preview.value && asked.value ? consequencesOf(preview.value, asked.value) : undefined,
    ),
    reset,
    async ask(action) {
      if (action !== asked.value) reset();
      asked.value = action;
      const result = await previewing.run({ cluster: cluster(), action });
      // Another question may have been put while this one was answered.
      if (!result || asked.value !== action) return;
      if (result.ok) preview.value = result.value;
      previewError.value = result.ok ? undefined : result.error.message;
    },
    async act(action) {
      error.value = undefined;
      const result = await starting.run({ cluster: cluster(), action });
      if (result.ok) {
        record(cluster(), action);
        return result.value.operation;
      }
      error.value = result.error.message;
      return undefined;
    },
  };
};
