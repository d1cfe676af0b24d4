import { readFile } from 'node:fs/promises';
import { protocol, type Session } from 'electron';
import type { Log } from '../../core/base/log.ts';
import { CONSOLE_SCHEME } from '../ipc/console-address.ts';
import { SECURITY_HEADERS } from './content-policy.ts';
import { pageFileFor } from './page-file.ts';

/** Before the app is ready: Chromium reads the privileges of a scheme once. */
export const registerConsoleScheme = (): void =>
  protocol.registerSchemesAsPrivileged([
    {
      scheme: CONSOLE_SCHEME,
      // codeCache: V8 keeps what it compiled of the console for the next start.
      privileges: { standard: true, secure: true, supportFetchAPI: true, codeCache: true },
    },
  ]);

const refuse = (status: number, text: string): Response =>
  new Response(text, {
    status,
    headers: { ...SECURITY_HEADERS, 'Content-Type': 'text/plain; charset=utf-8' },
  });

/** Serves the built console from `root`, read-only. */
export const serveConsolePages = (session: Session, root: string, log: Log): void => {
  session.protocol.handle(CONSOLE_SCHEME, async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'only GET is served');
    const file = pageFileFor(root, request.url);
    if (!file) return refuse(404, 'no such page');
    try {
      const body = await readFile(file.path);
      return new Response(body, { headers: { ...SECURITY_HEADERS, 'Content-Type': file.contentType } });
    } catch (error) {
      log.write('warn', 'a page could not be read', { path: file.path, error });
      return refuse(404, 'no such page');
    }
  });
};
