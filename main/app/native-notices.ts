import { BrowserWindow, Notification } from 'electron';
import type { Notification as Notice } from '../../core/contract/index.ts';
import type { Log } from '../../core/base/log.ts';
import type { NotificationHub, SettingsStore } from '../ipc/handlers/index.ts';

/** Notices shown at once by the system; more would be a flood, and the console lists them all. */
const SHOWN_MAX = 3;

export interface NativeNoticesOptions {
  readonly notifications: NotificationHub;
  readonly settings: SettingsStore;
  readonly signal: AbortSignal;
  readonly log: Log;
  focus(): void;
}

/** What a person should know while looking elsewhere. */
export const isWorthShowing = (
  notice: Pick<Notice, 'severity'>,
  now: { readonly enabled: boolean; readonly focused: boolean; readonly shownCount: number },
): boolean =>
  now.enabled &&
  !now.focused &&
  now.shownCount < SHOWN_MAX &&
  (notice.severity === 'warn' || notice.severity === 'error');

export const showNativeNotices = (options: NativeNoticesOptions): void => {
  const { focus, log, notifications, settings, signal } = options;
  const shown = new Set<Notification>();

  const show = ({ title, detail }: Notice): void => {
    const native = new Notification({ title, body: detail ?? '' });
    const forget = (): void => void shown.delete(native);
    native.once('click', () => {
      forget();
      focus();
    });
    native.once('close', forget);
    native.once('failed', forget);
    // Held: a collected notification loses its click.
    shown.add(native);
    native.show();
  };

  const follow = async (): Promise<void> => {
    for await (const batch of notifications.watch(signal))
      for (const notice of batch) {
        const enabled = settings.read().nativeNotifications && Notification.isSupported();
        const focused = BrowserWindow.getFocusedWindow() !== null;
        if (isWorthShowing(notice, { enabled, focused, shownCount: shown.size })) show(notice);
      }
  };
  follow().catch((error: unknown) => log.write('error', 'notices are no longer followed', { error }));
};
