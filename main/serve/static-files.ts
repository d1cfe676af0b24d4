import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join, relative, sep } from 'node:path';
import { ReasonError } from '../../core/base/errors.ts';
import { CONTENT_TYPES } from '../windows/page-file.ts';

const FILES_MAX = 2000;
const BYTES_MAX = 128 * 1024 * 1024;

export interface StaticFile {
  readonly body: Buffer;
  readonly contentType: string;
  readonly etag: string;
  readonly cacheControl: string;
}

/** Files by the path they are asked for. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

/** Vite puts files whose name holds a hash of their contents here; such a name never changes its meaning. */
const isHashed = (path: string): boolean => path.startsWith('/assets/');

/**
 * Reads the built console into memory. What is served is looked up by name among these and nowhere else, so no
 * request can name a file outside the folder.
 */
export const readStaticFiles = async (directory: string): Promise<StaticFiles> => {
  const files = new Map<string, StaticFile>();
  let bytes = 0;
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(
    (cause: unknown) => {
      throw new ReasonError('NotFound', `the console is not built: cannot read ${directory}`, { cause });
    },
  );
  for (const entry of entries) {
    const contentType = CONTENT_TYPES[extname(entry.name)];
    if (!entry.isFile() || contentType === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    const body = await readFile(path);
    bytes += body.length;
    if (files.size >= FILES_MAX || bytes > BYTES_MAX)
      throw new ReasonError('TooLarge', `${directory} contains too many files for a console`);
    const name = `/${relative(directory, path).split(sep).join('/')}`;
    files.set(name, {
      body,
      contentType,
      etag: `"${createHash('sha256').update(body).digest('base64url')}"`,
      cacheControl: isHashed(name) ? 'private, max-age=31536000, immutable' : 'private, no-cache',
    });
  }
  const index = files.get('/index.html');
  if (!index) throw new ReasonError('NotFound', `the console is not built: ${directory} has no index.html`);
  return files.set('/', index);
};
