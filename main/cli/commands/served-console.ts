import { fileURLToPath } from 'node:url';
import type { Disposable } from '../../../core/base/disposable.ts';
import type { Log } from '../../../core/base/log.ts';
import { systemClock } from '../../../core/base/node/clock.ts';
import { createHandlers, nodeProcessSource, type HandlerSet } from '../../ipc/handlers/index.ts';
import { startServe, type Serving } from '../../serve/index.ts';
import { usageError } from '../command.ts';
import { builtHost, hostLauncherHere } from './built-host.ts';
import { PRODUCT_VERSION } from '../product-version.ts';

const PORT_MAX = 65535;

/** Beside the built command line: dist/cli/cli.js (or a chunk of it) and dist/renderer. */
const builtPages = (): string => fileURLToPath(new URL('../renderer', import.meta.url));

export const parsePort = (text: string | undefined): number => {
  const port = text === undefined ? 0 : Number(text);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX || text === '')
    throw usageError(`--port must be a number from 0 to ${PORT_MAX}, not "${text}"`);
  return port;
};

export interface ServedConsole {
  readonly serving: Serving;
  close(): Promise<void>;
}

export interface ServedConsoleOptions {
  readonly dataDirectory: string;
  readonly port: number;
  /** The built console, if it is not beside this program. */
  readonly pages: string | undefined;
  readonly log: Log;
  /** Takes in what this process runs already; undone before the rest is closed. */
  readonly adopt?: (host: HandlerSet) => Disposable;
}

/** The console for a browser, and the clusters that it runs. */
export const openServedConsole = async (options: ServedConsoleOptions): Promise<ServedConsole> => {
  const { dataDirectory, port, log, pages, adopt } = options;
  const program = builtHost();
  const host = createHandlers({
    dataDirectory,
    clock: systemClock,
    log,
    version: PRODUCT_VERSION,
    shell: 'browser',
    processes: nodeProcessSource(systemClock),
    hosting: { program, launch: await hostLauncherHere(program) },
  });
  const adopted = adopt?.(host);
  const closeHost = async (): Promise<void> => {
    adopted?.dispose();
    await host.close();
    host.dispose();
  };
  try {
    const serving = await startServe({
      dataDirectory,
      pagesDirectory: pages ?? builtPages(),
      handlers: host.handlers,
      extensionPage: host.extensionPage,
      clock: systemClock,
      log,
      port,
    });
    host.resume();
    return {
      serving,
      async close() {
        await serving.close();
        await closeHost();
      },
    };
  } catch (error) {
    await closeHost();
    throw error;
  }
};
