import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { WebSocket, type ClientOptions } from 'ws';
import type { Clock } from '../../core/base/clock.ts';
import { silentLog } from '../../core/base/log.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import type { Handlers } from '../../core/contract/index.ts';
import { forkLauncher } from '../../core/cluster/supervisor/host-launcher.ts';
import { createHandlers, nodeProcessSource, type HandlerSet } from '../../main/ipc/handlers/index.ts';
import { startServe, type Serving } from '../../main/serve/index.ts';
import { ownFolder } from './own-folder.ts';

export interface TestServing extends Serving {
  readonly dataDirectory: string;
  readonly host: HandlerSet;
  /** Redeems a link and returns the cookie a browser would send. */
  signIn(): Promise<string>;
}

export interface TestServingOptions {
  readonly clock?: Clock;
  /** Handlers in place of, or beside, the console's own. */
  readonly handlers?: Handlers;
  readonly pagesDirectory?: string;
  /** Where kubeconfigs are looked for. */
  readonly home?: string;
  /** The built program of hosts, for a console that runs clusters. */
  readonly hostProgram?: URL;
}

/** A tiny console: one page, one hashed file. */
const writePages = (directory: string): string => {
  mkdirSync(join(directory, 'assets'), { recursive: true });
  writeFileSync(join(directory, 'index.html'), '<!doctype html><title>console</title>');
  writeFileSync(join(directory, 'assets', 'app-1234.js'), 'export {};');
  return directory;
};

export const startTestServing = async (options: TestServingOptions = {}): Promise<TestServing> => {
  const dataDirectory = ownFolder('pilothouse-serve-');
  const clock = options.clock ?? systemClock;
  const host = createHandlers({
    dataDirectory,
    clock,
    log: silentLog,
    version: '0.0.0-test',
    shell: 'browser',
    processes: nodeProcessSource(systemClock),
    // Kubeconfigs of the machine that runs the tests are not offered.
    surroundings: { env: {}, home: options.home ?? dataDirectory },
    ...(options.hostProgram && {
      hosting: { program: options.hostProgram, launch: forkLauncher(options.hostProgram) },
    }),
  });
  const serving = await startServe({
    dataDirectory,
    pagesDirectory: options.pagesDirectory ?? writePages(join(dataDirectory, 'pages')),
    handlers: { ...host.handlers, ...options.handlers },
    extensionPage: host.extensionPage,
    clock,
    log: silentLog,
  });
  return {
    ...serving,
    dataDirectory,
    host,
    async signIn() {
      const { headers } = await ask(serving, new URL(serving.mintUrl()).search.replace(/^/, '/'));
      const [cookie = ''] = headers['set-cookie'] ?? [];
      return cookie.split(';')[0] ?? '';
    },
    async close() {
      await serving.close();
      await host.close();
      host.dispose();
      rmSync(dataDirectory, { recursive: true, force: true });
    },
  };
};

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends the path as it is: no client-side tidying of dots. Trusts the console's own authority only. */
export const ask = (
  serving: Pick<Serving, 'port' | 'authorityPem'>,
  path: string,
  options: { readonly method?: string; readonly headers?: Record<string, string> } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port, authorityPem: ca } = serving;
    const { method = 'GET', headers = {} } = options;
    // Without it, the name in a Host header that is under test would be checked against the certificate.
    const target = { host: '127.0.0.1', port, servername: 'localhost', agent: false };
    const sent = request({ ...target, path, method, headers, ca }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (body += chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body }),
      );
    });
    sent.on('error', reject);
    sent.end();
  });

export const socketTo = (
  serving: Pick<Serving, 'port' | 'authorityPem'>,
  headers: Record<string, string>,
  options: ClientOptions & { readonly path?: string } = {},
): WebSocket => {
  const { path = '/contract', ...rest } = options;
  const address = `wss://127.0.0.1:${serving.port}${path}`;
  return new WebSocket(address, { ca: serving.authorityPem, headers, ...rest });
};

/** The status a WebSocket handshake was refused with, or `open`. */
export const handshake = (socket: WebSocket): Promise<number | 'open'> =>
  new Promise((resolve, reject) => {
    socket.once('open', () => resolve('open'));
    socket.once('unexpected-response', (sent, response) => {
      resolve(response.statusCode ?? 0);
      sent.destroy();
    });
    socket.once('error', reject);
  });

export const closeCode = (socket: WebSocket): Promise<number> =>
  new Promise((resolve) => socket.once('close', (code) => resolve(code)));
