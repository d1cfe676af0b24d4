import type { App } from 'electron';
import { verbatim } from '../../core/contract/index.ts';
import type { ElectronBridge } from '../ipc/electron-bridge.ts';
import type { HandlerSet } from '../ipc/handlers/index.ts';
import type { ConsoleWindows } from '../windows/console-windows.ts';

/** What the end-to-end tests ask of the main process. Never there in a packaged app. */
export interface TestHook {
  readonly openStreamCount: number;
  readonly refusedCount: number;
  readonly windowCount: number;
  notify(title: string): void;
  go(path: string): void;
}

export const exposeTestHook = (parts: {
  readonly app: App;
  readonly bridge: ElectronBridge;
  readonly windows: ConsoleWindows;
  readonly host: HandlerSet;
}): void => {
  if (parts.app.isPackaged || process.env['PILOTHOUSE_TEST'] !== '1') return;
  const hook: TestHook = {
    get openStreamCount() {
      return parts.bridge.openStreamCount;
    },
    get refusedCount() {
      return parts.bridge.refusedCount;
    },
    get windowCount() {
      return parts.windows.count;
    },
    notify: (title) => void parts.host.notifications.post({ severity: 'warn', title: verbatim(title) }),
    go: (path) => parts.windows.go(path),
  };
  Object.defineProperty(globalThis, '__pilothouseTest', { value: hook });
};
