import { readFile } from 'node:fs/promises';
import { say, SaidError } from '../../contract/index.ts';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { manifestsFolder } from './layout.ts';

/** The tag of the first image of a manifest's text is replaced; what an operator has written around it stays. */
export const withImageTag = (text: string, component: string, version: string): string =>
  text.replace(
    new RegExp(`^(\\s*(?:- )?image:\\s*["']?[^\\s"']*/${component}):[^\\s"'@]+`, 'm'),
    `$1:${version}`,
  );

/** Returns the previous text; undefined if the host has no such manifest. */
export const setImageTag = async (
  data: string,
  host: string,
  component: string,
  version: string,
): Promise<string | undefined> => {
  const path = join(manifestsFolder(data, host), `${component}.yaml`);
  let before: string;
  try {
    before = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw cause;
  }
  const after = withImageTag(before, component, version);
  if (after === before && !before.includes(`/${component}:${version}`))
    throw new SaidError('BadManifest', say('failure.upgrade.noImage', { path, component }));
  if (after !== before) await writeFileAtomically(path, after);
  return before;
};

export const writeManifest = (data: string, host: string, component: string, text: string): Promise<void> =>
  writeFileAtomically(join(manifestsFolder(data, host), `${component}.yaml`), text);
