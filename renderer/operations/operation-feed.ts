import { defineComponent, watch } from 'vue';
import type { Operation } from '../../core/contract/index.ts';
import { useOperations } from './useOperations.ts';

/** Follows the operations of one cluster for the shell; shows nothing itself. */
export const OperationFeed = defineComponent({
  props: { cluster: { type: String, required: true } },
  emits: {
    change: (_operations: readonly Operation[]) => true,
  },
  setup(props, { emit }) {
    const { operations } = useOperations(props.cluster);
    watch(operations, (now) => now && emit('change', now));
    return () => null;
  },
});
