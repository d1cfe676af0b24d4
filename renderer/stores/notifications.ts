import { defineStore } from 'pinia';
import { computed, shallowRef } from 'vue';
import type { Severity } from '../../core/contract/index.ts';

export const NOTIFICATIONS_KEPT_MAX = 100;

/** In the language that was chosen when it arrived. */
export interface ShownNotification {
  readonly id: string;
  readonly severity: Severity;
  readonly title: string;
  readonly detail?: string;
  readonly atMs: number;
}

/** What was reported, newest first, until it is cleared. */
export const useNotificationStore = defineStore('notifications', () => {
  const items = shallowRef<readonly ShownNotification[]>([]);
  const readUpToMs = shallowRef(0);

  const unreadCount = computed(() => items.value.filter((item) => item.atMs > readUpToMs.value).length);

  /** False when it is known already: a host repeats its notices to a console that comes back. */
  const record = (item: ShownNotification): boolean => {
    if (items.value.some((known) => known.id === item.id)) return false;
    items.value = [item, ...items.value].sort((a, b) => b.atMs - a.atMs).slice(0, NOTIFICATIONS_KEPT_MAX);
    return true;
  };
  const markRead = (): void => {
    readUpToMs.value = Math.max(readUpToMs.value, items.value[0]?.atMs ?? 0);
  };
  const clear = (): void => {
    items.value = [];
  };
  return { items, unreadCount, record, markRead, clear };
});
