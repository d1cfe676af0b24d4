import type { BrowserWindow } from 'electron';
import { dialog, nativeTheme, screen } from 'electron';
import type { Clock } from '../../core/base/clock.ts';
import type { Log } from '../../core/base/log.ts';
import { type Handlers, type Said, say } from '../../core/contract/index.ts';
import type { ElectronBridge } from '../ipc/electron-bridge.ts';
import type { NotificationHub } from '../ipc/handlers/index.ts';
import { createNavigationHub, type NavigationHub } from '../state/navigation-hub.ts';
import { CONSOLE_URL } from '../ipc/console-address.ts';
import { backgroundNow, createConsoleWindow, type ConsoleWindowOptions } from './console-window.ts';
import { createCrashBudget } from './page-recovery.ts';
import { cascade, placeWindow } from './window-bounds.ts';
import type { WindowStateFile } from './window-state.ts';

const WINDOWS_MAX = 16;
/** A page that does not paint (a broken build, no GPU) still gets a window, and so a way to close it. */
const SHOW_AT_LATEST_MS = 5000;
const RELOAD_AFTER_MS = 100;

export interface ConsoleWindowsOptions extends Omit<ConsoleWindowOptions, 'bounds'> {
  readonly handlers: Handlers;
  readonly bridge: ElectronBridge;
  readonly state: WindowStateFile;
  readonly notifications: NotificationHub;
  readonly clock: Clock;
  readonly log: Log;
  /** A sentence in the language of native dialogs. */
  readonly words: (what: Said) => string;
  /** After a window has been shown. */
  readonly onShown: () => void;
}

export interface ConsoleWindows {
  open(): BrowserWindow;
  /** The window used last, in front; a new one when there is none. */
  focus(): BrowserWindow;
  /** Takes the window used last to a page of the console. */
  go(path: string): void;
  readonly count: number;
}

export const createConsoleWindows = (options: ConsoleWindowsOptions): ConsoleWindows => {
  const { bridge, clock, handlers, log, notifications, state, words } = options;
  /** In the order of their last focus. */
  const open = new Map<BrowserWindow, NavigationHub>();

  const current = (): BrowserWindow | undefined => [...open.keys()].at(-1);

  const recover = (window: BrowserWindow): void => {
    const budget = createCrashBudget(clock);
    window.webContents.on('render-process-gone', (_event, { reason, exitCode }) => {
      if (window.isDestroyed() || reason === 'clean-exit') return;
      log.write('error', 'a page ended unexpectedly', { reason, exitCode });
      if (budget.mayReload()) {
        notifications.post({
          severity: 'warn',
          title: say('notice.page.reloaded'),
          detail: say('notice.page.reloaded.detail', { reason }),
        });
        // Not from within the event: Chromium is still taking the old process down and would abort.
        const reload = clock.after(RELOAD_AFTER_MS, () => window.webContents.reload());
        window.once('closed', () => reload.dispose());
        return;
      }
      void dialog
        .showMessageBox(window, {
          type: 'error',
          message: words(say('native.crash')),
          detail: words(say('native.crash.detail', { reason })),
          buttons: [words(say('native.crash.reload')), words(say('native.closeWindow'))],
          cancelId: 1,
        })
        .then(({ response }) => {
          if (window.isDestroyed()) return;
          if (response === 0) window.webContents.reload();
          else window.destroy();
        });
    });
  };

  const showWhenPainted = (window: BrowserWindow, maximised: boolean): void => {
    const latest = clock.after(SHOW_AT_LATEST_MS, () => show());
    const show = (): void => {
      latest.dispose();
      if (window.isDestroyed() || window.isVisible()) return;
      if (maximised) window.maximize();
      window.show();
      options.onShown();
    };
    window.once('ready-to-show', show);
    window.once('closed', () => latest.dispose());
  };

  const add = (): BrowserWindow => {
    const above = current();
    if (above && open.size >= WINDOWS_MAX) return above;
    const bounds = above
      ? cascade(above.getNormalBounds())
      : placeWindow(
          state.value,
          screen.getAllDisplays().map((display) => display.workArea),
          screen.getPrimaryDisplay().workArea,
        );
    const window = createConsoleWindow({ ...options, bounds });
    const navigation = createNavigationHub();
    open.set(window, navigation);
    bridge.attach(window.webContents, {
      ...handlers,
      'navigation.watch': (_input, signal) => navigation.watch(signal),
    });
    recover(window);
    state.follow(window);
    window.on('focus', () => {
      open.delete(window);
      open.set(window, navigation);
    });
    window.once('closed', () => {
      open.delete(window);
      navigation.dispose();
    });
    showWhenPainted(window, above === undefined && state.value.maximised);
    window.webContents
      .loadURL(CONSOLE_URL)
      .catch((error: unknown) => log.write('error', 'the console could not be loaded', { error }));
    return window;
  };

  const focus = (): BrowserWindow => {
    const window = current();
    if (!window) return add();
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
    return window;
  };

  nativeTheme.on('updated', () => {
    for (const window of open.keys()) window.setBackgroundColor(backgroundNow());
  });

  return {
    open: add,
    focus,
    go: (path) => open.get(focus())?.go(path),
    get count() {
      return open.size;
    },
  };
};
