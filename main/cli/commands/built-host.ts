import { forkLauncher, type HostLauncher } from '../../../core/cluster/supervisor/host-launcher.ts';

/** What hosts run, beside the built command line: dist/cli/cli.js (or a chunk of it) and dist/host/host.js. */
export const builtHost = (): URL => new URL('../host/host.js', import.meta.url);

/** In an installed app this process is Electron's, whose binary does not run as Node; its hosts are utility processes. */
export const hostLauncherHere = async (program: URL): Promise<HostLauncher> =>
  process.versions['electron'] === undefined
    ? forkLauncher(program)
    : (await import('../../app/utility-launcher.ts')).utilityLauncher(program);
