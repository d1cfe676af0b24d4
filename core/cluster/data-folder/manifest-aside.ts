import { existsSync, readdirSync } from 'node:fs';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { say, SaidError, type Said } from '../../contract/index.ts';
import { hostFolder, manifestsFolder, PRIVATE_FOLDER_MODE } from './layout.ts';

/** Where manifests wait that a kubelet should not run now. */
const asideFolder = (data: string, host: string): string => join(hostFolder(data, host), 'stopped');

const move = async (from: string, to: string, missing: Said): Promise<void> => {
  try {
    await rename(from, to);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause;
    throw new SaidError('NotFound', missing, { cause });
  }
};

/** Components of a host whose manifests were set aside. */
export const stoppedComponents = (data: string, host: string): readonly string[] => {
  const folder = asideFolder(data, host);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => file.slice(0, -'.yaml'.length));
};

/** The component's kubelet stops it. */
export const setManifestAside = async (data: string, host: string, component: string): Promise<void> => {
  const aside = asideFolder(data, host);
  await mkdir(aside, { recursive: true, mode: PRIVATE_FOLDER_MODE });
  const file = `${component}.yaml`;
  await move(
    join(manifestsFolder(data, host), file),
    join(aside, file),
    say('directory.component.missing', { host, component }),
  );
};

/** The component's kubelet starts it. */
export const putManifestBack = async (data: string, host: string, component: string): Promise<void> => {
  const file = `${component}.yaml`;
  await move(
    join(asideFolder(data, host), file),
    join(manifestsFolder(data, host), file),
    say('directory.component.notStopped', { host, component }),
  );
};

/** Edits the manifest of a stopped component; returns the previous text. */
export const editManifestAside = async (
  data: string,
  host: string,
  component: string,
  edit: (text: string) => string,
): Promise<string> => {
  const path = join(asideFolder(data, host), `${component}.yaml`);
  const before = await readFile(path, 'utf8');
  const after = edit(before);
  if (after !== before) await writeFileAtomically(path, after);
  return before;
};
