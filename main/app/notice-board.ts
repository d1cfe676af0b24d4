import type { Log } from '../../core/base/log.ts';
import type { Notification } from '../../core/contract/index.ts';
import { Feed } from '../state/feed.ts';
import type { NotificationHub } from '../ipc/handlers/index.ts';

const LISTENER_ITEMS_MAX = 128;
const UNHEARD_ITEMS_MAX = 32;

/**
 * Stands between the host's notices and anyone who shows them. The desktop itself looks at every notice, and to the hub
 * that counts as heard; here only pages count, so that what is posted while no page listens (a reload after a
 * crash, the tray) waits for the next one.
 */
export interface NoticeBoard {
  /** For pages. */
  watch(signal: AbortSignal): AsyncIterable<Notification[]>;
  /** Calls `look` with every notice from now on; for the desktop itself. */
  observe(look: (notice: Notification) => void): void;
  dispose(): void;
}

export const openNoticeBoard = (hub: NotificationHub, log: Log): NoticeBoard => {
  const stopped = new AbortController();
  const observers: ((notice: Notification) => void)[] = [];
  const feed = new Feed<Notification>({
    listenerItemsMax: LISTENER_ITEMS_MAX,
    unheardItemsMax: UNHEARD_ITEMS_MAX,
  });

  const pass = async (): Promise<void> => {
    for await (const batch of hub.watch(stopped.signal))
      for (const notice of batch) {
        feed.publish(notice);
        for (const look of observers) look(notice);
      }
  };
  pass().catch((error: unknown) => log.write('error', 'notifications are no longer forwarded', { error }));

  return {
    watch: (signal) => feed.listen(signal),
    observe(look) {
      observers.push(look);
    },
    dispose() {
      stopped.abort();
      feed.close();
    },
  };
};
