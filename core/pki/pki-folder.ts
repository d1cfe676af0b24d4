import { mkdir, readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { writeFileAtomically } from '../base/node/atomic-file.ts';
import { AUTHORITIES, type AuthorityName } from './cluster-spec.ts';
import { PkiError } from './errors.ts';
import { openAuthority, type Authority, type Credential } from './issue.ts';

const CERTIFICATE_MODE = 0o644;
const KEY_DIRECTORY_MODE = 0o700;
const FILES_MAX = 10_000;

/** Where things are below a cluster's data folder. */
export const certificatePath = (directory: string, base: string): string =>
  join(directory, 'pki', `${base}.crt`);
export const keyPath = (directory: string, base: string): string => join(directory, 'pki', `${base}.key`);
export const kubeconfigPath = (directory: string, file: string): string =>
  join(directory, 'kubeconfig', file);

export const readOptional = async (path: string): Promise<string | undefined> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
};

export const readRequired = async (path: string): Promise<string> => {
  const text = await readOptional(path);
  if (text === undefined) throw new PkiError('NotFound', `${path} does not exist`);
  return text;
};

export const writePrivate = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: KEY_DIRECTORY_MODE });
  await writeFileAtomically(path, text);
};

export const writePublic = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(path), { recursive: true, mode: KEY_DIRECTORY_MODE });
  await writeFileAtomically(path, text, CERTIFICATE_MODE);
};

/** The key first: a reader that finds the new certificate then finds its key as well. */
export const writeCredential = async (
  directory: string,
  base: string,
  credential: Credential,
): Promise<void> => {
  await writePrivate(keyPath(directory, base), credential.privateKeyPem);
  await writePublic(certificatePath(directory, base), credential.certificatePem);
};

/** What those who trust the authority are given: one certificate, or two during a rotation. */
export const readBundle = (directory: string, name: AuthorityName): Promise<string> =>
  readRequired(certificatePath(directory, AUTHORITIES[name].base));

/** Opens an authority for signing; `KeyMissing` where its key is kept elsewhere. */
export const loadAuthority = async (directory: string, name: AuthorityName): Promise<Authority> => {
  const certificatePem = await readBundle(directory, name);
  const privateKeyPem = await readOptional(keyPath(directory, AUTHORITIES[name].base));
  if (privateKeyPem === undefined)
    throw new PkiError(
      'KeyMissing',
      `the private key of the ${name} CA is not in ${directory}; cannot sign certificates`,
    );
  return openAuthority({ certificatePem, privateKeyPem });
};

/** Files below a folder whose names end so, with `/` between parts, sorted; none where there is no folder. */
export const listFiles = async (folder: string, ending: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  if (entries.length > FILES_MAX)
    throw new PkiError('Unsupported', `${folder} contains more than ${FILES_MAX} files`);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .sort();
};

/** Concurrent writes; each waits for its fsync, so one after the other would take most of a second. */
const WRITES_AT_ONCE = 16;

export const runBounded = async (jobs: readonly (() => Promise<void>)[]): Promise<void> => {
  const queue = jobs[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (const job of queue) await job();
  };
  await Promise.all(Array.from({ length: WRITES_AT_ONCE }, worker));
};
