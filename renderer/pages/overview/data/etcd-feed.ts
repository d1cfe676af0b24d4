import { defineComponent, watch } from 'vue';
import type { EtcdView } from '../../../../core/contract/index.ts';
import { useNewest } from '../../../composables/useNewest.ts';

/** Follows the members of etcd where the cluster is ours; shows nothing itself. */
export const EtcdFeed = defineComponent({
  props: { cluster: { type: String, required: true } },
  emits: { view: (_view: EtcdView) => true },
  setup(props, { emit }) {
    const { value } = useNewest('etcd.members', { cluster: props.cluster });
    watch(value, (view) => view && emit('view', view));
    return () => null;
  },
});
