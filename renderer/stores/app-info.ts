import { defineStore } from 'pinia';
import { shallowRef, watch } from 'vue';
import type { AppInfo } from '../../core/contract/index.ts';
import { useConnection } from '../bridge/index.ts';
import { useLatestCall } from '../composables/useLatestCall.ts';

/** What this installation is. Asked again after a reconnect: the host may be another version by then. */
export const useAppInfoStore = defineStore('app-info', () => {
  const connection = useConnection();
  const { run, error } = useLatestCall('app.info');
  const info = shallowRef<AppInfo>();

  const read = async (): Promise<void> => {
    const result = await run(undefined);
    if (result?.ok) info.value = result.value;
  };
  watch(connection.client, (client) => client && void read(), { immediate: true });
  return { info, error, read };
});
