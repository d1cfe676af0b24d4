import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { wait } from '../../base/wait.ts';
import { isJsonObject } from '../../api/meta/object-meta.ts';
import { readIdToken } from './id-token.ts';
import type { ProviderConfig } from './provider.ts';
import type { Tokens } from './sign-in.ts';

const FILE_MODE = 0o600;
const FOLDER_MODE = 0o700;
const POLL_MS = 100;
/** Longer than any sign-in: a lock of this age is of a process that was killed. */
const LOCK_AGE_MS_MAX = 300_000;

export interface TokenCache {
  /** Undefined where there are none, or none that can be read. */
  read(): Promise<Tokens | undefined>;
  write(tokens: Tokens): Promise<void>;
  clear(): Promise<void>;
  /** Runs alone among all processes that use the same tokens: several clients must not open several browsers. */
  alone<T>(run: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

const isCode = (error: unknown, code: string): boolean =>
  (error as NodeJS.ErrnoException | undefined)?.code === code;

const nameOf = ({ issuerUrl, clientId, extraScopes }: ProviderConfig): string =>
  createHash('sha256')
    .update(JSON.stringify([issuerUrl, clientId, [...extraScopes].sort()]))
    .digest('hex');

export const openTokenCache = (folder: string, config: ProviderConfig, clock: Clock): TokenCache => {
  const path = join(folder, nameOf(config));
  const lock = `${path}.lock`;

  const takeLock = async (signal: AbortSignal): Promise<void> => {
    for (;;) {
      signal.throwIfAborted();
      try {
        await (await open(lock, 'wx', FILE_MODE)).close();
        return;
      } catch (error) {
        if (!isCode(error, 'EEXIST')) throw error;
      }
      const age = await stat(lock).then(
        ({ mtimeMs }) => clock.nowMs() - mtimeMs,
        () => 0,
      );
      if (age > LOCK_AGE_MS_MAX) await rm(lock, { force: true });
      else await wait(clock, POLL_MS, signal);
    }
  };

  return {
    async read() {
      try {
        const kept: unknown = JSON.parse(await readFile(path, 'utf8'));
        if (!isJsonObject(kept)) return undefined;
        const { id_token: idToken, refresh_token: refreshToken } = kept;
        if (typeof idToken !== 'string' || typeof refreshToken !== 'string') return undefined;
        return { idToken: readIdToken(idToken, config), refreshToken };
      } catch {
        // Absent, cut off or of another sign-in: a new one replaces it.
        return undefined;
      }
    },
    async write({ idToken, refreshToken }) {
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      const half = `${path}.${randomUUID()}`;
      const text = JSON.stringify({ id_token: idToken.text, refresh_token: refreshToken });
      await writeFile(half, text, { mode: FILE_MODE, flag: 'wx' });
      await rename(half, path);
    },
    clear: () => rm(path, { force: true }),
    async alone(run, signal) {
      await mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      await takeLock(signal);
      try {
        return await run();
      } finally {
        await rm(lock, { force: true });
      }
    },
  };
};
