import { nativeTheme } from 'electron';
import { messageOf } from '../../core/base/errors.ts';
import type { Log } from '../../core/base/log.ts';
import type { Settings } from '../../core/contract/index.ts';
import type { SettingsStore } from '../ipc/handlers/index.ts';

/** The page follows `prefers-color-scheme`, so this one line switches every window and native part. */
export const applyTheme = ({ theme }: Settings): void => {
  if (nativeTheme.themeSource !== theme) nativeTheme.themeSource = theme;
};

/** Calls `apply` with the settings now and after every change until the signal aborts. */
export const followSettings = (
  settings: SettingsStore,
  signal: AbortSignal,
  apply: (settings: Settings) => void,
  log: Log,
): void => {
  const follow = async (): Promise<void> => {
    for await (const batch of settings.watch(signal)) {
      const newest = batch.at(-1);
      if (newest) apply(newest);
    }
  };
  follow().catch((error: unknown) =>
    log.write('error', 'settings changes are no longer applied', { error: messageOf(error) }),
  );
};
