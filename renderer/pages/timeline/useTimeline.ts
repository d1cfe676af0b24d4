import { onScopeDispose, ref, shallowRef, type Ref, type ShallowRef } from 'vue';
import type { TimelineEntry } from '../../../core/contract/index.ts';
import { useStream, type StreamHealth } from '../../composables/useStream.ts';
import { EntryTable } from './entry-table.ts';

/** Entries come in bursts; a burst is one change of the picture. */
const SETTLE_MS = 250;

export interface TimelineFeed {
  readonly table: Readonly<ShallowRef<EntryTable>>;
  readonly isComplete: Readonly<Ref<boolean>>;
  readonly damagedLines: Readonly<Ref<number>>;
  readonly health: Readonly<ShallowRef<StreamHealth>>;
  reopen(): void;
}

/** The timeline of a cluster: what is stored first, then what is recorded. Nothing comes while the page is hidden. */
export const useTimeline = (cluster: string): TimelineFeed => {
  const table = shallowRef(new EntryTable());
  const isComplete = ref(false);
  const damagedLines = ref(0);
  let waiting: TimelineEntry[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const settle = (): void => {
    timer = undefined;
    if (waiting.length === 0) return;
    table.value = table.value.with(waiting);
    waiting = [];
  };
  onScopeDispose(() => clearTimeout(timer));
  const { health, reopen } = useStream(
    'timeline.watch',
    { cluster },
    (items) => {
      for (const item of items) {
        waiting.push(...item.entries);
        damagedLines.value = item.damagedLines;
        // The stored entries are shown together: a table for every chunk would sort a hundred thousand fifty times.
        if (item.isComplete && !isComplete.value) {
          settle();
          isComplete.value = true;
        }
      }
      if (isComplete.value) timer ??= setTimeout(settle, SETTLE_MS);
    },
    { pauseWhenHidden: true },
  );
  return { table, isComplete, damagedLines, health, reopen };
};
