import { readFile } from 'node:fs/promises';
import { protocol, type Session } from 'electron';
import type { Log } from '../../core/base/log.ts';
import type { ExtensionPage } from '../extensions/extension-page.ts';
import { CONSOLE_SCHEME, isConsoleUrl } from '../ipc/console-address.ts';
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

export interface ConsolePages {
  /** The built console. */
  readonly root: string;
  /** Documents of extensions by their path; undefined for every other path. */
  readonly extensionPage: (path: string) => Promise<ExtensionPage | undefined>;
  readonly log: Log;
}

/** Serves the built console from `root`, read-only, and what frames of extensions show. */
export const serveConsolePages = (session: Session, { root, extensionPage, log }: ConsolePages): void => {
  session.protocol.handle(CONSOLE_SCHEME, async (request) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'only GET is served');
    if (isConsoleUrl(request.url)) {
      const page = await extensionPage(new URL(request.url).pathname).catch((error: unknown) => {
        log.write('warn', 'the page of an extension could not be read', { error });
        return undefined;
      });
      if (page) return new Response(page.body, { headers: page.headers });
    }
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
