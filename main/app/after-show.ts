import { join } from 'node:path';
import { app, Menu, shell } from 'electron';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import { isCancelled, say, saidOf, type Settings } from '../../core/contract/index.ts';
import type { HandlerSet } from '../ipc/handlers/index.ts';
import type { ConsoleWindows } from '../windows/console-windows.ts';
import { DEEP_LINK_SCHEME } from './deep-link.ts';
import { chooseKubeconfigFile } from './file-dialog.ts';
import { MENU_PAGES } from './menu-pages.ts';
import { menuTemplate } from './menu-template.ts';
import { showNativeNotices } from './native-notices.ts';
import { chooseNativeLanguage } from './native-words.ts';
import type { NoticeBoard } from './notice-board.ts';
import type { QuitFlow } from './quit-flow.ts';
import { followSettings } from './settings-effects.ts';
import { openTray } from './tray.ts';

const WEBSITE = 'https://pilothouse.dev';

export interface AfterShowOptions {
  readonly host: HandlerSet;
  readonly windows: ConsoleWindows;
  readonly notices: NoticeBoard;
  readonly icons: string;
  readonly logPath: string;
  readonly quit: QuitFlow;
  readonly signal: AbortSignal;
  readonly log: Log;
}

const pressPaletteKey = (windows: ConsoleWindows): void => {
  const { webContents } = windows.focus();
  const modifier = process.platform === 'darwin' ? 'meta' : 'control';
  for (const type of ['keyDown', 'keyUp'] as const)
    webContents.sendInputEvent({ type, keyCode: 'K', modifiers: [modifier] });
};

const openKubeconfig = async ({ host, windows }: AfterShowOptions): Promise<void> => {
  windows.focus();
  try {
    const path = await chooseKubeconfigFile();
    if (path !== undefined) await host.clusters.open(path);
  } catch (error) {
    if (isCancelled(error)) return;
    host.notifications.post({
      severity: 'error',
      title: say('notice.kubeconfig.failed'),
      detail: say('notice.reason', { reason: saidOf(error) }),
    });
  }
};

/** What no one waits for: made when the first window is on the screen. */
export const afterShow = (options: AfterShowOptions): void => {
  const { host, icons, log, logPath, notices, quit, signal, windows } = options;

  const showMenu = (): void =>
    Menu.setApplicationMenu(
      Menu.buildFromTemplate(
        menuTemplate({
          platform: process.platform,
          packaged: app.isPackaged,
          pages: MENU_PAGES,
          actions: {
            newWindow: () => void windows.open(),
            openKubeconfig: () => void openKubeconfig(options),
            openPalette: () => pressPaletteKey(windows),
            go: (path) => windows.go(path),
            showLog: () => shell.showItemInFolder(logPath),
            openWebsite: () => void shell.openExternal(WEBSITE),
          },
        }),
      ),
    );
  showMenu();

  let tray: Disposable | undefined;
  const showTray = (wanted: boolean): void => {
    if (wanted === (tray !== undefined)) return;
    tray?.dispose();
    tray = wanted
      ? openTray({
          icon: join(icons, '32x32.png'),
          open: () => void windows.focus(),
          quit: () => app.quit(),
        })
      : undefined;
  };
  const applySettings = async ({ keepInTray, locale }: Settings): Promise<void> => {
    if (await chooseNativeLanguage(locale, app.getPreferredSystemLanguages())) {
      showMenu();
      showTray(false);
    }
    showTray(keepInTray);
  };
  followSettings(host.settings, signal, (settings) => void applySettings(settings), log);
  quit.add('tray', () => showTray(false));

  showNativeNotices({
    notices,
    settings: host.settings,
    focus: () => void windows.focus(),
  });

  // An unpackaged app would register the bare Electron, which could not find its way back here.
  if (app.isPackaged) app.setAsDefaultProtocolClient(DEEP_LINK_SCHEME);
};
