import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { app, ipcMain, session, shell } from 'electron';
import type { Log } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { jsonLog } from '../../core/base/node/log.ts';
import { say } from '../../core/contract/index.ts';
import { createElectronBridge } from '../ipc/electron-bridge.ts';
import { createHandlers } from '../ipc/handlers/create-handlers.ts';
import { registerConsoleScheme, serveConsolePages } from '../windows/console-pages.ts';
import { createConsoleWindows } from '../windows/console-windows.ts';
import { guardNavigation, keepOffline, refusePermissions } from '../windows/guards.ts';
import { openWindowState } from '../windows/window-state.ts';
import { pathOfDeepLink } from './deep-link.ts';
import { chooseKubeconfigFile, chooseSnapshotFile } from './file-dialog.ts';
import { secondStartOf, type Identity, type SecondStart } from './identity.ts';
import { installLastWords } from './last-words.ts';
import { openLogFile } from './log-file.ts';
import { inNativeWords } from './native-words.ts';
import { openNoticeBoard } from './notice-board.ts';
import { openFileOrTell } from './open-file.ts';
import { electronProcessSource } from './process-samples.ts';
import { createQuitFlow } from './quit-flow.ts';
import { applyTheme, followSettings } from './settings-effects.ts';
import { exposeTestHook } from './test-hook.ts';
import { utilityLauncher } from './utility-launcher.ts';

/**
 * Every process of Chromium in its sandbox. `enableSandbox` would drop a `--no-sandbox` that somebody gave by hand,
 * and Chromium refuses to run sandboxed as root, so anyone who gives it (a test in a container) gets what they ask for.
 */
const keepSandbox = (log: Log): void => {
  if (app.commandLine.hasSwitch('no-sandbox'))
    log.write('warn', 'the process sandbox is off: started with --no-sandbox');
  else app.enableSandbox();
};

/**
 * Puts the desktop together. What the first paint needs is made here, in the order it needs it; menu, tray and
 * the rest are loaded once a window is seen (`after-show.ts`).
 */
export const startDesktop = ({ dataDirectory, desktopDirectory, deepLink, file }: Identity): void => {
  const clock = systemClock;
  const logFile = openLogFile(desktopDirectory);
  const log = jsonLog(logFile.stream);
  installLastWords(log, (code) => app.exit(code));
  keepSandbox(log);
  registerConsoleScheme();
  const openOutside = (url: string): Promise<void> => shell.openExternal(url);
  guardNavigation(app, log, openOutside);

  const appDirectory = app.getAppPath();
  const hostProgram = pathToFileURL(join(appDirectory, 'dist/host/host.js'));
  const host = createHandlers({
    dataDirectory,
    clock,
    log,
    version: app.getVersion(),
    shell: 'desktop',
    processes: electronProcessSource(app),
    openExternal: openOutside,
    chooseKubeconfig: chooseKubeconfigFile,
    chooseSnapshot: chooseSnapshotFile,
    hosting: { program: hostProgram, launch: utilityLauncher(hostProgram) },
  });
  const notices = openNoticeBoard(host.notifications, log);
  const bridge = createElectronBridge(ipcMain, log);
  const state = openWindowState({ directory: desktopDirectory, clock, log });
  const stopped = new AbortController();
  const icons = join(appDirectory, 'resources/icons');

  const quit = createQuitFlow(clock, log);
  quit.add('log file', () => logFile.dispose());
  quit.add('handlers', () => host.dispose());
  quit.add('clusters', () => host.close());
  quit.add('notices', () => notices.dispose());
  quit.add('bridge', () => bridge.dispose());
  quit.add('window state', () => state.flush());
  quit.add('followers', () => stopped.abort());

  let decorated = false;
  const decorate = async (): Promise<void> => {
    if (decorated) return;
    decorated = true;
    const { afterShow } = await import('./after-show.ts');
    afterShow({ host, windows, notices, icons, logPath: logFile.path, quit, signal: stopped.signal, log });
  };

  const windows = createConsoleWindows({
    preload: join(appDirectory, 'dist/preload/preload.cjs'),
    icon: join(icons, '256x256.png'),
    devTools: !app.isPackaged,
    handlers: {
      ...host.handlers,
      'notifications.watch': (_input, pageSignal) => notices.watch(pageSignal),
    },
    bridge,
    state,
    notifications: host.notifications,
    clock,
    log,
    words: inNativeWords,
    onShown: () => void decorate(),
  });

  const follow = (link: string): void => {
    const path = pathOfDeepLink(link);
    if (path !== undefined) return windows.go(path);
    log.write('warn', 'ignored a malformed link');
    windows.focus();
    host.notifications.post({
      severity: 'warn',
      title: say('notice.link.ignored'),
      detail: say('notice.link.ignored.detail'),
    });
  };

  /** What a start asked for: a page, a file, or nothing but a window. */
  const begin = (asked: SecondStart): void => {
    if (asked.deepLink !== undefined) return follow(asked.deepLink);
    windows.focus();
    if (asked.file !== undefined) openFileOrTell(asked.file, host, windows);
  };

  app.on('second-instance', (_event, _argv, _cwd, told) => begin(secondStartOf(told)));
  app.on('open-file', (event, path) => {
    event.preventDefault();
    void app.whenReady().then(() => begin({ file: path }));
  });
  app.on('open-url', (event, link) => {
    event.preventDefault();
    void app.whenReady().then(() => follow(link));
  });
  app.on('activate', () => windows.focus());
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin' && !host.settings.read().keepInTray) app.quit();
  });
  app.on('will-quit', (event) => {
    event.preventDefault();
    if (!quit.started) void quit.close().then(() => app.exit(0));
  });

  applyTheme(host.settings.read());
  void app.whenReady().then(async () => {
    refusePermissions(session.defaultSession, log);
    await keepOffline(session.defaultSession);
    serveConsolePages(session.defaultSession, {
      root: join(appDirectory, 'dist/renderer'),
      extensionPage: host.extensionPage,
      log,
    });
    begin({ ...(deepLink !== undefined && { deepLink }), ...(file !== undefined && { file }) });
    followSettings(host.settings, stopped.signal, applyTheme, log);
    exposeTestHook({ app, bridge, windows, host });
    host.resume();
  });
};
