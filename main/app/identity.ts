import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { App } from 'electron';
import { defaultDataDirectory } from '../ipc/handlers/data-directory.ts';
import { parseLaunchArguments } from './launch-arguments.ts';

/** Which installation this process is: two with different data folders run side by side. */
export interface Identity {
  readonly dataDirectory: string;
  /** The desktop's own part of it: Chromium's profile, window state, log. */
  readonly desktopDirectory: string;
  readonly deepLink: string | undefined;
  /** Opened by a file manager; absolute. */
  readonly file: string | undefined;
}

/** Sent by a second start to the one that runs already. */
export interface SecondStart {
  readonly deepLink?: string;
  readonly file?: string;
}

/**
 * Claims the data folder for this process. Undefined when another one has it: that one has been told what this
 * start was asked for and comes to the front. Must run before the app is ready.
 */
export const claimIdentity = (app: App): Identity | undefined => {
  const told = parseLaunchArguments(process.argv.slice(1), process.cwd());
  const { dataDirectory: chosen, deepLink } = told;
  // Unpackaged, the first path among the arguments is the app itself.
  const file = app.isPackaged ? told.file : undefined;
  const dataDirectory =
    chosen ?? defaultDataDirectory({ platform: process.platform, home: homedir(), env: process.env });
  const desktopDirectory = join(dataDirectory, 'desktop');
  mkdirSync(desktopDirectory, { recursive: true, mode: 0o700 });
  app.setPath('userData', desktopDirectory);
  const passedOn: SecondStart = {
    ...(deepLink !== undefined && { deepLink }),
    ...(file !== undefined && { file }),
  };
  return app.requestSingleInstanceLock({ ...passedOn })
    ? { dataDirectory, desktopDirectory, deepLink, file }
    : undefined;
};

/** What another process sent: anything at all. */
export const secondStartOf = (told: unknown): SecondStart => {
  const { deepLink, file } = (told ?? {}) as { deepLink?: unknown; file?: unknown };
  return {
    ...(typeof deepLink === 'string' && { deepLink }),
    ...(typeof file === 'string' && isAbsolute(file) && { file }),
  };
};
