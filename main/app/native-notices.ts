import { BrowserWindow, Notification } from 'electron';
import type { Notification as Notice } from '../../core/contract/index.ts';
import type { SettingsStore } from '../ipc/handlers/index.ts';
import { inNativeWords } from './native-words.ts';
import type { NoticeBoard } from './notice-board.ts';

/** Notices that the system shows at the same time; more would be a flood, and the console lists them all. */
const SHOWN_MAX = 3;

export interface NativeNoticesOptions {
  readonly notices: NoticeBoard;
  readonly settings: SettingsStore;
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
  const { focus, notices, settings } = options;
  const shown = new Set<Notification>();

  const show = ({ title, detail }: Notice): void => {
    const native = new Notification({
      title: inNativeWords(title),
      body: detail ? inNativeWords(detail) : '',
    });
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

  notices.observe((notice) => {
    const enabled = settings.read().nativeNotifications && Notification.isSupported();
    const focused = BrowserWindow.getFocusedWindow() !== null;
    if (isWorthShowing(notice, { enabled, focused, shownCount: shown.size })) show(notice);
  });
};
