import { computed, reactive, shallowRef } from 'vue';
import type { EtcdEvent, EtcdView } from '../../../core/contract/index.ts';
import { useStream } from '../../composables/useStream.ts';
import { withView } from './member-samples.ts';
import { raftHistory } from './raft-history.ts';

/** Samples come once a second; this late, the last one no longer speaks for now. */
export const ETCD_STALE_AFTER_MS = 5_000;

/** The members of one cluster's etcd and what happened to them, while a page shows it. */
export const useEtcd = (cluster: string) => {
  const views = shallowRef<readonly EtcdView[]>([]);
  const events = shallowRef<readonly EtcdEvent[]>();
  const members = useStream(
    'etcd.members',
    { cluster },
    (items) => (views.value = items.reduce(withView, views.value)),
    { pauseWhenHidden: true },
  );
  const timeline = useStream('etcd.timeline', { cluster }, (items) => (events.value = items.at(-1)), {
    pauseWhenHidden: true,
  });
  return reactive({
    views,
    events,
    latest: computed(() => views.value.at(-1)),
    history: computed(() => raftHistory(events.value ?? [])),
    health: members.health,
    timelineHealth: timeline.health,
    reopen() {
      members.reopen();
      timeline.reopen();
    },
  });
};
