import { expect, test } from 'vitest';
import { defaultDataDirectory } from './data-directory.ts';

test('each platform keeps application data where its users expect it', () => {
  const on = (platform: NodeJS.Platform, home: string, env: Record<string, string> = {}): string =>
    defaultDataDirectory({ platform, home, env });
  expect([
    on('linux', '/home/a'),
    on('linux', '/home/a', { XDG_DATA_HOME: '/data' }),
    on('linux', '/home/a', { XDG_DATA_HOME: 'relative' }),
    on('darwin', '/Users/a'),
    on('win32', 'C:\\Users\\a', { APPDATA: 'C:\\Users\\a\\Roam' }),
    on('win32', 'C:\\Users\\a'),
  ]).toEqual([
    '/home/a/.local/share/pilothouse',
    '/data/pilothouse',
    '/home/a/.local/share/pilothouse',
    '/Users/a/Library/Application Support/Pilothouse',
    'C:\\Users\\a\\Roam\\Pilothouse',
    'C:\\Users\\a\\AppData\\Roaming\\Pilothouse',
  ]);
});
