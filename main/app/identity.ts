import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { App } from 'electron';
import { defaultDataDirectory } from '../ipc/handlers/data-directory.ts';
import { parseLaunchArguments } from './launch-arguments.ts';

/** Which installation this process is: two with different data folders run side by side. */
export interface Identity {
  readonly dataDirectory: string;
  /** The desktop's own part of it: Chromium's profile, window state, log. */
  readonly desktopDirectory: string;
  readonly deepLink: string | undefined;
}

/** Sent by a second start to the one that runs already. */
export interface SecondStart {
  readonly deepLink?: string;
}

/**
 * Claims the data folder for this process. Undefined when another one has it: that one has been told what this
 * start was asked for and comes to the front. Must run before the app is ready.
 */
export const claimIdentity = (app: App): Identity | undefined => {
  const { dataDirectory: chosen, deepLink } = parseLaunchArguments(process.argv.slice(1), process.cwd());
  const dataDirectory =
    chosen ?? defaultDataDirectory({ platform: process.platform, home: homedir(), env: process.env });
  const desktopDirectory = join(dataDirectory, 'desktop');
  mkdirSync(desktopDirectory, { recursive: true, mode: 0o700 });
  app.setPath('userData', desktopDirectory);
  const told: SecondStart = deepLink === undefined ? {} : { deepLink };
  return app.requestSingleInstanceLock({ ...told })
    ? { dataDirectory, desktopDirectory, deepLink }
    : undefined;
};

/** What another process sent: anything at all. */
export const deepLinkOf = (told: unknown): string | undefined => {
  const link = (told as { deepLink?: unknown } | null | undefined)?.deepLink;
  return typeof link === 'string' ? link : undefined;
};
