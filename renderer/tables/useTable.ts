import { shallowRef, watch, type Ref, type ShallowRef } from 'vue';
import { tell } from '../locales/i18n.ts';
import type { TableColumn, TableItem, TableQuery, TableRow, WatchHealth } from '../../core/contract/index.ts';
import { useStream, type StreamHealth } from '../composables/useStream.ts';
import { useClusterHealthStore } from '../stores/cluster-health.ts';
import { SortedRows, type RowOrder } from './sorted-rows.ts';

export interface LiveTable {
  readonly rows: ShallowRef<readonly TableRow[]>;
  readonly columns: ShallowRef<readonly TableColumn[]>;
  /** Everything that was there when the list was read is here. */
  readonly isListed: ShallowRef<boolean>;
  readonly totalCount: ShallowRef<number>;
  readonly watch: ShallowRef<WatchHealth | undefined>;
  readonly health: Readonly<ShallowRef<StreamHealth>>;
  find(key: string): TableRow | undefined;
  /** The one namespace that the user may list, where all were asked for. */
  readonly scope: ShallowRef<string | undefined>;
  /** All rows, shown or not. */
  all(): Iterable<TableRow>;
  reopen(): void;
}

/** Keeps one list live for the scope that calls it. Rows stay while the wire is lost. */
export const useTable = (query: TableQuery, order: Ref<RowOrder>): LiveTable => {
  const reach = useClusterHealthStore();
  const sorted = new SortedRows(order.value);
  const rows = shallowRef<readonly TableRow[]>([]);
  const columns = shallowRef<readonly TableColumn[]>([]);
  const isListed = shallowRef(false);
  const totalCount = shallowRef(0);
  const scope = shallowRef<string>();
  const watchHealth = shallowRef<WatchHealth>();
  /** Since the stream was opened again; what was known before and is not told again is gone. */
  let told: Set<string> | undefined;

  const show = (): void => {
    rows.value = sorted.shown();
    totalCount.value = sorted.totalCount;
  };

  const take = (items: readonly TableItem[]): void => {
    const changed: TableRow[] = [];
    const gone: string[] = [];
    for (const item of items)
      switch (item.kind) {
        case 'columns':
          columns.value = item.columns;
          break;
        case 'rows':
          for (const row of item.rows) {
            told?.add(row.key);
            changed.push(row);
          }
          break;
        case 'gone':
          gone.push(...item.keys);
          break;
        case 'listed':
          if (told) for (const { key } of sorted.values()) if (!told.has(key)) gone.push(key);
          told = undefined;
          isListed.value = true;
          break;
        case 'scope':
          scope.value = item.namespace;
          break;
        case 'health':
          watchHealth.value = item.health;
          if (item.health.phase === 'watching') reach.note(query.cluster, undefined);
          else if (item.health.phase === 'waiting')
            reach.note(query.cluster, item.health.error ? tell(item.health.error) : '');
          break;
      }
    if (changed.length === 0 && gone.length === 0) return;
    sorted.change(changed, gone);
    show();
  };

  const { health, reopen } = useStream('kube.table', query, take, {
    pauseWhenHidden: true,
    onOpening: () => (told = new Set()),
  });
  watch(order, (next) => {
    sorted.setOrder(next);
    show();
  });

  return {
    rows,
    columns,
    isListed,
    totalCount,
    watch: watchHealth,
    health,
    scope,
    find: (key) => sorted.get(key),
    all: () => sorted.values(),
    reopen,
  };
};
