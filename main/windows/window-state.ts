import { join } from 'node:path';
import type { BrowserWindow } from 'electron';
import type { Clock } from '../../core/base/clock.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import { openJsonDocument } from '../state/json-document.ts';
import { windowState, windowStateDefault, type WindowState } from './window-bounds.ts';

/** Dragging a window fires many events; only where it comes to rest is written. */
const SETTLE_MS = 400;

export interface WindowStateFile {
  readonly value: WindowState;
  /** Remembers where this window is from now on; the window moved last wins. */
  follow(window: BrowserWindow): void;
  /** Resolves when what was seen last is on disk. */
  flush(): Promise<void>;
}

export const openWindowState = (options: {
  readonly directory: string;
  readonly clock: Clock;
  readonly log: Log;
}): WindowStateFile => {
  const { clock, log } = options;
  const document = openJsonDocument({
    path: join(options.directory, 'window.json'),
    schema: windowState,
    initial: windowStateDefault,
    onDamage: (damage) => log.write('warn', 'the window state was damaged and is set aside', { ...damage }),
  });
  let seen: WindowState | undefined;
  let timer: Disposable | undefined;
  let written = Promise.resolve();

  const write = (): Promise<void> => {
    timer?.dispose();
    timer = undefined;
    const state = seen;
    if (!state) return written;
    seen = undefined;
    written = document
      .change(() => state)
      .then(
        () => undefined,
        // The next start merely opens where the window was before.
        (error: unknown) => log.write('warn', 'the window state could not be written', { error }),
      );
    return written;
  };

  return {
    get value() {
      return seen ?? document.value;
    },
    follow(window) {
      const look = (): void => {
        if (window.isDestroyed() || window.isMinimized() || window.isFullScreen()) return;
        seen = { bounds: window.getNormalBounds(), maximised: window.isMaximized() };
        timer?.dispose();
        timer = clock.after(SETTLE_MS, () => void write());
      };
      window.on('resize', look);
      window.on('move', look);
      window.on('maximize', look);
      window.on('unmaximize', look);
      window.on('close', () => {
        look();
        void write();
      });
    },
    flush: write,
  };
};
