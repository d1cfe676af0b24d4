import { shallowRef, type ShallowRef } from 'vue';
import { tell } from '../../../locales/i18n.ts';
import type { ResourceRef, TableColumn, TableItem, TableRow } from '../../../../core/contract/index.ts';
import { useStream, type StreamHealth } from '../../../composables/useStream.ts';
import { useClusterHealthStore } from '../../../stores/cluster-health.ts';

export interface LiveRows {
  readonly rows: Readonly<ShallowRef<readonly TableRow[]>>;
  readonly columns: Readonly<ShallowRef<readonly TableColumn[]>>;
  readonly isListed: Readonly<ShallowRef<boolean>>;
  readonly health: Readonly<ShallowRef<StreamHealth>>;
  /** Why the API server cannot be asked now; it is asked again. */
  readonly waitingWhy: Readonly<ShallowRef<string | undefined>>;
}

/** Every object of a kind, or those that a field selector chooses, as a row: live while the page is visible, in no order. */
export const useRows = (cluster: string, resource: ResourceRef, fieldSelector = ''): LiveRows => {
  const reach = useClusterHealthStore();
  const byKey = new Map<string, TableRow>();
  const rows = shallowRef<readonly TableRow[]>([]);
  const columns = shallowRef<readonly TableColumn[]>([]);
  const isListed = shallowRef(false);
  const waitingWhy = shallowRef<string>();
  /** Since the stream was opened again; what is not told again is gone. */
  let told: Set<string> | undefined;

  const take = (items: readonly TableItem[]): void => {
    let isChanged = false;
    for (const item of items)
      switch (item.kind) {
        case 'columns':
          columns.value = item.columns;
          break;
        case 'rows':
          isChanged = true;
          for (const row of item.rows) {
            told?.add(row.key);
            byKey.set(row.key, row);
          }
          break;
        case 'gone':
          isChanged = true;
          for (const key of item.keys) byKey.delete(key);
          break;
        case 'listed':
          if (told) for (const key of [...byKey.keys()]) if (!told.has(key)) byKey.delete(key);
          told = undefined;
          isChanged = true;
          isListed.value = true;
          break;
        case 'scope':
          break;
        case 'health':
          waitingWhy.value = item.health.error ? tell(item.health.error) : undefined;
          if (item.health.phase === 'watching') reach.note(cluster, undefined);
          else if (item.health.phase === 'waiting') reach.note(cluster, waitingWhy.value ?? '');
          break;
      }
    if (isChanged) rows.value = [...byKey.values()];
  };
  const query = { cluster, resource, namespace: null, labelSelector: '', fieldSelector };
  const { health } = useStream('kube.table', query, take, {
    pauseWhenHidden: true,
    onOpening: () => (told = new Set()),
  });
  return { rows, columns, isListed, health, waitingWhy };
};
