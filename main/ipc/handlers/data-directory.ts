import { posix, win32 } from 'node:path';

export interface Surroundings {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The platform's application data folder; `--data DIR` overrides it. */
export const defaultDataDirectory = ({ platform, home, env }: Surroundings): string => {
  if (platform === 'darwin') return posix.join(home, 'Library', 'Application Support', 'Pilothouse');
  if (platform === 'win32')
    return win32.join(env['APPDATA'] ?? win32.join(home, 'AppData', 'Roaming'), 'Pilothouse');
  // The XDG base directory specification ignores a relative path.
  const xdg = env['XDG_DATA_HOME'];
  const base = xdg && posix.isAbsolute(xdg) ? xdg : posix.join(home, '.local', 'share');
  return posix.join(base, 'pilothouse');
};
