import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ReasonError } from '../../../core/base/errors.ts';
import { EXIT_OK, parseOptions, type Command } from '../command.ts';

/** Where a cluster of this data folder keeps the administrator's kubeconfig; absent when there is none. */
export const adminKubeconfig = (dataDirectory: string): string | undefined => {
  const path = join(dataDirectory, 'kubeconfig', 'admin.conf');
  return existsSync(path) ? path : undefined;
};

export const kubeconfig: Command = {
  usage: '  pilothouse kubeconfig [--data DIR] [-o json]\n\n  export KUBECONFIG=$(pilothouse kubeconfig)',
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    const path = adminKubeconfig(dataDirectory);
    if (path === undefined)
      throw new ReasonError(
        'NotFound',
        `no cluster in ${dataDirectory}; create one with \`pilothouse up --data ${dataDirectory}\``,
      );
    context.print(json ? JSON.stringify({ path }) : path);
    return EXIT_OK;
  },
};
