import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { say, verbatim, type FlagsDiff } from '../../contract/index.ts';
import type { ClusterConfig } from '../config/config.ts';
import { planHosts } from '../config/hosts.ts';
import { manifestsFolder } from '../data-folder/layout.ts';
import { inStep, type StepReport } from '../operation/step-report.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { assertHealthy } from '../supervisor/move.ts';
import { changeManifest } from './change-manifest.ts';
import { withFlags, type FlagChange } from './with-flags.ts';

export interface FlagsRequest {
  readonly component: string;
  readonly flags: readonly FlagChange[];
}

interface HostDiff {
  readonly host: string;
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

const diffOfHost = async (
  data: string,
  host: string,
  { component, flags }: FlagsRequest,
): Promise<HostDiff | undefined> => {
  const path = join(manifestsFolder(data, host), `${component}.yaml`);
  const before = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (before === undefined) return undefined;
  const after = withFlags(before, flags);
  return after === before ? undefined : { host, path, before, after };
};

/** What would change, host by host. Hosts without the component, or with these flags already, are not in it. */
export const flagsDiff = async (
  data: string,
  config: ClusterConfig,
  request: FlagsRequest,
): Promise<FlagsDiff> => {
  const hosts = await Promise.all(planHosts(config).map(({ name }) => diffOfHost(data, name, request)));
  return { files: hosts.flatMap((diff) => diff ?? []) };
};

/** Changes the flags on one host after the other. Returns how many hosts were changed. */
export const setFlags = (
  supervisor: Supervisor,
  request: FlagsRequest,
  report: StepReport,
): Promise<number> =>
  supervisor.exclusively(say('exclusive.flags', { component: request.component }), async () => {
    const { component } = request;
    const { files } = await flagsDiff(supervisor.folder.directory, supervisor.config, request);
    report.plan(files.map(({ host }) => ({ id: host, title: say('step.flags', { component, host }) })));
    for (const diff of files)
      await inStep(
        report,
        diff.host,
        async () => {
          await assertHealthy(supervisor);
          await changeManifest(supervisor, { ...diff, component });
        },
        () => verbatim(diff.path),
      );
    return files.length;
  });
