import { useRouter } from 'vue-router';
import { useStream } from '../composables/useStream.ts';
import { tell } from '../locales/i18n.ts';
import { useNotificationStore } from '../stores/notifications.ts';
import { useToastStore } from '../stores/toasts.ts';

/** Older than this when they arrive, notices are history: listed behind the bell, not shown as news. */
const NEWS_MS = 10_000;

/** What the host says on its own: notices for the user, and places it wants the console to go to. */
export const useHostNotices = (): void => {
  const notifications = useNotificationStore();
  const toasts = useToastStore();
  const router = useRouter();

  useStream('notifications.watch', undefined, (items) => {
    for (const { title, detail, ...rest } of items) {
      const item = { ...rest, title: tell(title), ...(detail && { detail: tell(detail) }) };
      if (!notifications.record(item)) continue;
      if (Date.now() - item.atMs > NEWS_MS) continue;
      toasts.present(item);
    }
  });
  useStream('navigation.watch', undefined, (items) => {
    const last = items.at(-1);
    if (last) void router.push(last.path);
  });
};
