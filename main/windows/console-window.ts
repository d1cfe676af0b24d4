import { BrowserWindow, nativeTheme } from 'electron';
import { WINDOW_HEIGHT_MIN, WINDOW_WIDTH_MIN, type Rectangle } from './window-bounds.ts';

/** `--surface-base` of both themes: the window has the console's colour before its page is there. */
const BACKGROUND = { light: '#ecedea', dark: '#0b1014' } as const;

export const backgroundNow = (): string => BACKGROUND[nativeTheme.shouldUseDarkColors ? 'dark' : 'light'];

export interface ConsoleWindowOptions {
  readonly bounds: Rectangle;
  readonly preload: string;
  readonly icon: string;
  readonly devTools: boolean;
}

/** A window for the console, not yet shown and with no page. Every page in it is sandboxed and has no Node. */
export const createConsoleWindow = ({
  bounds,
  preload,
  icon,
  devTools,
}: ConsoleWindowOptions): BrowserWindow =>
  new BrowserWindow({
    ...bounds,
    minWidth: WINDOW_WIDTH_MIN,
    minHeight: WINDOW_HEIGHT_MIN,
    title: 'Pilothouse',
    show: false,
    backgroundColor: backgroundNow(),
    autoHideMenuBar: true,
    ...(process.platform === 'linux' ? { icon } : {}),
    webPreferences: {
      preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      navigateOnDragDrop: false,
      webviewTag: false,
      spellcheck: false,
      devTools,
    },
  });
