import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { logsFolder } from '../../core/cluster/data-folder/layout.ts';
import type { TestContainerd } from './containerd.ts';
import type { KubernetesClient } from './kubectl.ts';

const LOG_CHARACTERS = 4_000;

const LOOKS: readonly (readonly string[])[] = [
  ['get', 'nodes', '-o', 'wide'],
  ['get', 'pods', '-A', '-o', 'wide'],
  ['get', 'events', '-A', '--sort-by=.metadata.creationTimestamp'],
];

const kubeletLogs = async (data: string): Promise<string[]> =>
  Promise.all(
    (await readdir(join(data, 'hosts')).catch(() => [])).map(async (host) => {
      const text = await readFile(join(logsFolder(data, host), 'kubelet.log'), 'utf8').catch(() => '');
      return `--- kubelet of ${host}\n${text.slice(-LOG_CHARACTERS)}`;
    }),
  );

/** What nodes, pods, kubelets and container runtimes say, for the failure of a test. Never fails itself. */
export const criReport = async (of: {
  readonly kubectl: KubernetesClient | undefined;
  readonly data: string | undefined;
  readonly runtimes: readonly (TestContainerd | undefined)[];
}): Promise<string> => {
  const parts: string[] = [];
  for (const args of of.kubectl ? LOOKS : []) {
    const { stdout, stderr } = await of.kubectl!.kubectl(args);
    parts.push(`--- kubectl ${args.join(' ')}\n${stdout}${stderr}`);
  }
  if (of.data !== undefined) parts.push(...(await kubeletLogs(of.data)));
  for (const runtime of of.runtimes)
    if (runtime) parts.push(`--- ${runtime.endpoint}\n${await runtime.log()}`);
  return parts.join('\n');
};
