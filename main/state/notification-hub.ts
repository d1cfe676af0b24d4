import type { Clock } from '../../core/base/clock.ts';
import type { Notification, Said, Severity } from '../../core/contract/index.ts';
import { Feed } from './feed.ts';

const LISTENER_ITEMS_MAX = 128;
const UNHEARD_ITEMS_MAX = 32;

export interface NotificationDraft {
  readonly severity: Severity;
  readonly title: Said;
  readonly detail?: Said;
}

/** Notices for anyone who looks. What is posted before the first console listens waits for it. */
export interface NotificationHub {
  post(draft: NotificationDraft): Notification;
  watch(signal: AbortSignal): AsyncIterable<Notification[]>;
  dispose(): void;
}

export const createNotificationHub = (clock: Clock): NotificationHub => {
  const feed = new Feed<Notification>({
    listenerItemsMax: LISTENER_ITEMS_MAX,
    unheardItemsMax: UNHEARD_ITEMS_MAX,
  });
  let lastId = 0;
  return {
    post(draft) {
      const atMs = clock.nowMs();
      const notification = { id: `${atMs}-${(lastId += 1)}`, atMs, ...draft };
      feed.publish(notification);
      return notification;
    },
    watch: (signal) => feed.listen(signal),
    dispose: () => feed.close(),
  };
};
