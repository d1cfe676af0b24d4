import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEEP_LINK_SCHEME } from './deep-link.ts';

export interface LaunchArguments {
  /** Absolute; undefined for the platform's own folder. */
  readonly dataDirectory: string | undefined;
  /** The first deep link, as the system passed it: anything at all. */
  readonly deepLink: string | undefined;
  /** The first file that a file manager passed, by its path or as a URL; absolute. */
  readonly file: string | undefined;
}

const fileIn = (word: string): string | undefined => {
  if (isAbsolute(word)) return word;
  if (!word.toLowerCase().startsWith('file:') || !URL.canParse(word)) return undefined;
  try {
    return fileURLToPath(word);
  } catch {
    return undefined; // a URL of another machine
  }
};

/**
 * Reads what the app itself was told. Chromium's switches and the path of an unpackaged app stand between, so what is
 * not known is passed over.
 */
export const parseLaunchArguments = (argv: readonly string[], cwd: string): LaunchArguments => {
  let dataDirectory: string | undefined;
  let deepLink: string | undefined;
  let file: string | undefined;
  for (let i = 0; i < argv.length; i += 1) {
    const word = argv[i] ?? '';
    const value = word === '--data' ? argv[(i += 1)] : /^--data=(.*)$/s.exec(word)?.[1];
    if (value) dataDirectory = isAbsolute(value) ? value : resolve(cwd, value);
    else if (word.toLowerCase().startsWith(`${DEEP_LINK_SCHEME}:`)) deepLink ??= word;
    else file ??= fileIn(word);
  }
  return { dataDirectory, deepLink, file };
};
