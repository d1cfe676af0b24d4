import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../../core/base/node/clock.ts';
import { jsonLog } from '../../../core/base/node/log.ts';
import { forkLauncher } from '../../../core/cluster/supervisor/host-launcher.ts';
import { createHandlers, nodeProcessSource } from '../../ipc/handlers/index.ts';
import { startServe, type Serving } from '../../serve/index.ts';
import { EXIT_OK, parseOptions, usageError, type Command, type CommandContext } from '../command.ts';
import { PRODUCT_VERSION } from '../product-version.ts';
import { adminKubeconfig } from './kubeconfig.ts';

const PORT_MAX = 65535;

const USAGE = `  pilothouse serve [--data DIR] [--port N] [--pages DIR] [-o json]

  Prints a link that works once and then serves the console until it is interrupted. Enter prints another.
  --port N     the port on 127.0.0.1; without it a free one is taken
  --pages DIR  the built console, if it is not beside this program

  From another machine, forward the same port: ssh -L N:127.0.0.1:N host`;

/** Beside the built command line: dist/cli/cli.js (or a chunk of it) and dist/renderer. */
const builtPages = (): string => fileURLToPath(new URL('../renderer', import.meta.url));

/** Beside the built command line too: what hosts of clusters run. */
const builtHost = (): URL => new URL('../host/host.js', import.meta.url);

const parsePort = (text: string | undefined): number => {
  const port = text === undefined ? 0 : Number(text);
  if (!Number.isInteger(port) || port < 0 || port > PORT_MAX || text === '')
    throw usageError(`--port takes a number from 0 to ${PORT_MAX}, not "${text}"`);
  return port;
};

const announce = (serving: Serving, dataDirectory: string, json: boolean, context: CommandContext): void => {
  const kubeconfig = adminKubeconfig(dataDirectory);
  if (json) {
    const { url, port, authorityPath } = serving;
    context.print(JSON.stringify({ url, port, authorityPath, kubeconfig: kubeconfig ?? null }));
    return;
  }
  context.print(`console ${serving.url}`);
  context.print(
    kubeconfig === undefined
      ? `no cluster of its own in ${dataDirectory}; the console opens any kubeconfig`
      : `kubeconfig ${kubeconfig}`,
  );
  context.note(`The browser warns until it trusts ${serving.authorityPath}. The link works once.`);
};

export const serve: Command = {
  usage: USAGE,
  async run(args, context) {
    const options = { port: { type: 'string' }, pages: { type: 'string' } } as const;
    const { values, dataDirectory, json } = parseOptions(options, args, context);
    const port = parsePort(values.port);
    const log = jsonLog(process.stderr, { level: 'warn' });
    const program = builtHost();
    const host = createHandlers({
      dataDirectory,
      clock: systemClock,
      log,
      version: PRODUCT_VERSION,
      shell: 'browser',
      processes: nodeProcessSource(systemClock),
      hosting: { program, launch: forkLauncher(program) },
    });
    try {
      const serving = await startServe({
        dataDirectory,
        pagesDirectory: values.pages ?? builtPages(),
        handlers: host.handlers,
        clock: systemClock,
        log,
        port,
      });
      announce(serving, dataDirectory, json, context);
      host.hosted.resume();
      const stopListening = context.onEnter(() => context.print(`console ${serving.mintUrl()}`));
      if (!context.signal.aborted) await once(context.signal, 'abort');
      stopListening();
      await serving.close();
    } finally {
      await host.close();
      host.dispose();
    }
    return EXIT_OK;
  },
};
