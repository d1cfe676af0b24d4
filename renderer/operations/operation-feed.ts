import { defineComponent, watch } from 'vue';
import type { Operation } from '../../core/contract/index.ts';
import { justEnded } from './operation-progress.ts';
import { useOperations } from './useOperations.ts';

/** Follows the operations of one cluster for the shell; shows nothing itself. */
export const OperationFeed = defineComponent({
  props: { cluster: { type: String, required: true } },
  emits: {
    change: (_operations: readonly Operation[]) => true,
    ended: (_operation: Operation) => true,
  },
  setup(props, { emit }) {
    const { operations } = useOperations(props.cluster);
    watch(operations, (after, before) => {
      if (!after) return;
      emit('change', after);
      for (const operation of justEnded(before, after)) emit('ended', operation);
    });
    return () => null;
  },
});
