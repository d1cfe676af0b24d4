import { once } from 'node:events';
import { jsonLog } from '../../../core/base/node/log.ts';
import type { Serving } from '../../serve/index.ts';
import { EXIT_OK, parseOptions, type Command, type CommandContext } from '../command.ts';
import { adminKubeconfig } from './kubeconfig.ts';
import { openServedConsole, parsePort } from './served-console.ts';

const USAGE = `  pilothouse serve [--data DIR] [--port N] [--pages DIR] [-o json]

  Serves the console until interrupted and prints a one-time link. Press Enter to print another link.
  --port N     port on 127.0.0.1 (default: a free port)
  --pages DIR  directory of the built console (default: next to this program)

  To use it from another machine, forward the port: ssh -L N:127.0.0.1:N host`;

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
      ? `no cluster in ${dataDirectory}; open a kubeconfig in the console`
      : `kubeconfig ${kubeconfig}`,
  );
  context.note(`The link works once. Your browser shows a warning until it trusts ${serving.authorityPath}.`);
};

export const serve: Command = {
  usage: USAGE,
  async run(args, context) {
    const options = { port: { type: 'string' }, pages: { type: 'string' } } as const;
    const { values, dataDirectory, json } = parseOptions(options, args, context);
    const port = parsePort(values.port);
    const log = jsonLog(process.stderr, { level: 'warn' });
    const { serving, close } = await openServedConsole({ dataDirectory, port, pages: values.pages, log });
    try {
      announce(serving, dataDirectory, json, context);
      const stopListening = context.onEnter(() => context.print(`console ${serving.mintUrl()}`));
      if (!context.signal.aborted) await once(context.signal, 'abort');
      stopListening();
    } finally {
      await close();
    }
    return EXIT_OK;
  },
};
