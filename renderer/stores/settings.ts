import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import { settingsDefault, type Settings } from '../../core/contract/index.ts';
import { createTurns } from '../composables/turns.ts';
import { useCall } from '../composables/useCall.ts';
import { useStream } from '../composables/useStream.ts';
import { t } from '../locales/i18n.ts';
import { useToastStore } from './toasts.ts';

/**
 * What the user chose. A change shows immediately and is sent to the host; if the host refuses, the view
 * falls back to what the host holds.
 */
export const useSettingsStore = defineStore('settings', () => {
  const held = shallowRef<Settings>(settingsDefault);
  const changed = shallowRef<Partial<Settings>>({});
  const loaded = shallowRef(false);
  const savedAtMs = shallowRef<number>();
  const toasts = useToastStore();
  const write = useCall('settings.write');
  const turns = createTurns();

  const { health } = useStream('settings.watch', undefined, (items) => {
    const newest = items.at(-1);
    if (!newest) return;
    held.value = newest;
    loaded.value = true;
  });

  const current = computed<Settings>(() => ({ ...held.value, ...changed.value }));

  const save = async (patch: Partial<Settings>): Promise<boolean> => {
    changed.value = { ...changed.value, ...patch };
    const turn = turns.next();
    const result = await write.run(patch);
    if (result.ok) {
      if (turn.take()) held.value = result.value;
      savedAtMs.value = Date.now();
    } else {
      toasts.show({ severity: 'error', title: t('settings.failed'), detail: result.error.message });
    }
    changed.value = Object.fromEntries(Object.entries(changed.value).filter(([key]) => !(key in patch)));
    return result.ok;
  };

  return { current, loaded, health, saving: write.pending, savedAtMs, save };
});
