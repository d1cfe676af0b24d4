import { existsSync } from 'node:fs';
import { say, type Said } from '../../contract/index.ts';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { yamlFault } from '../../base/parse-fault.ts';
import { AUTHORITIES, keyPath } from '../../pki/index.ts';
import { manifestsFolder } from './layout.ts';

const MANIFEST = /^([^.].*)\.ya?ml$/;

/** A manifest that no pod can be made of, which the kubelet of the host leaves out. */
export interface BrokenManifest {
  readonly host: string;
  readonly component: string;
  readonly message: Said;
}

const whyBroken = (text: string): string | undefined => {
  try {
    const pod: unknown = parse(text);
    const kind = typeof pod === 'object' && pod !== null && 'kind' in pod ? pod.kind : undefined;
    return kind === 'Pod' ? undefined : 'is not a Pod manifest';
  } catch (error) {
    return `is not valid YAML: ${yamlFault(error)}`;
  }
};

export const brokenManifests = async (
  data: string,
  hosts: readonly string[],
): Promise<readonly BrokenManifest[]> => {
  const found: BrokenManifest[] = [];
  for (const host of hosts) {
    const folder = manifestsFolder(data, host);
    for (const file of existsSync(folder) ? await readdir(folder) : []) {
      const component = MANIFEST.exec(file)?.[1];
      const why = component && whyBroken(await readFile(join(folder, file), 'utf8'));
      if (component !== undefined && why !== undefined)
        found.push({
          host,
          component,
          message: say('failure.start.manifest', { path: join(folder, file), why }),
        });
    }
  }
  return found;
};

/** Keys that a running cluster does without, until something has to be issued. One line each. */
export const lostKeys = (data: string): readonly Said[] =>
  Object.values(AUTHORITIES)
    .map(({ base }) => keyPath(data, base))
    .filter((file) => !existsSync(file))
    .map((path) => say('warning.keyLost', { path }));
