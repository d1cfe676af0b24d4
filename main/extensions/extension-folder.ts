import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import * as v from 'valibot';
import { jsonFault, schemaFault } from '../../core/base/parse-fault.ts';
import {
  extensionManifest,
  SaidError,
  saidOf,
  say,
  type ExtensionManifest,
  type Said,
} from '../../core/contract/index.ts';

const KIB = 1024;
/** Names are fixed, so no manifest can name a file elsewhere. */
const MANIFEST = 'extension.json';
const PAGE = 'page.html';
const SCRIPT = 'page.js';
const STYLE = 'page.css';
const BYTES_MAX: Readonly<Record<string, number>> = {
  [MANIFEST]: 16 * KIB,
  [PAGE]: 128 * KIB,
  [SCRIPT]: 1024 * KIB,
  [STYLE]: 128 * KIB,
};

/** An extension as its files are now. */
export interface ExtensionFiles {
  readonly manifest: ExtensionManifest;
  readonly page: string;
  readonly script: string;
  readonly style: string;
  /** SHA-256 of all four, in hex. */
  readonly fingerprint: string;
}

const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;
const unusable = (why: Said): SaidError => new SaidError('Unusable', why);

/** Opened without following a link and without waiting for the other end of a pipe; absent on systems that lack it. */
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Undefined where there is no such file. */
const readPart = async (folder: string, file: string): Promise<Buffer | undefined> => {
  const path = join(folder, file);
  const bytesMax = BYTES_MAX[file] ?? 0;
  try {
    // Windows knows no O_NOFOLLOW.
    if ((await lstat(path)).isSymbolicLink()) throw unusable(say('extension.problem.notFile', { file }));
    const handle = await open(path, OPEN_FLAGS);
    try {
      if (!(await handle.stat()).isFile()) throw unusable(say('extension.problem.notFile', { file }));
      const bytes = Buffer.alloc(bytesMax + 1);
      let length = 0;
      while (length < bytes.length) {
        const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
        if (bytesRead === 0) return bytes.subarray(0, length);
        length += bytesRead;
      }
      throw unusable(say('extension.problem.tooLarge', { file, max: `${bytesMax / KIB} KiB` }));
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof SaidError) throw error;
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) === 'ELOOP') throw unusable(say('extension.problem.notFile', { file }));
    throw unusable(say('extension.problem.unreadable', { file, why: saidOf(error) }));
  }
};

const textOf = (bytes: Buffer, file: string): string => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // A parser of HTML reads these as others, and then the hash of the script in its policy is not that of its text.
    if (!text.includes('\0')) return text.replaceAll(/\r\n?/g, '\n');
  } catch {
    // Told below.
  }
  throw unusable(say('extension.problem.notText', { file }));
};

const parseManifest = (text: string): ExtensionManifest => {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    throw unusable(say('extension.problem.manifest', { file: MANIFEST, why: jsonFault(text) }));
  }
  const parsed = v.safeParse(extensionManifest, raw);
  if (parsed.success) return parsed.output;
  throw unusable(say('extension.problem.manifest', { file: MANIFEST, why: schemaFault(parsed.issues) }));
};

/** What would end the element that the text is put into. */
const assertContained = (text: string, file: string, tags: readonly RegExp[]): void => {
  for (const tag of tags) {
    const found = tag.exec(text)?.[0];
    if (found !== undefined) throw unusable(say('extension.problem.tag', { file, tag: found.slice(0, 20) }));
  }
};

/** Reads an extension. Fails with a `SaidError` that says which file cannot be used, and why. */
export const readExtension = async (folder: string): Promise<ExtensionFiles> => {
  const found = await lstat(folder).catch((error: unknown) => {
    throw unusable(say('extension.problem.unreadable', { file: folder, why: saidOf(error) }));
  });
  if (!found.isDirectory()) throw unusable(say('extension.problem.notFolder', { path: folder }));
  const hash = createHash('sha256');
  const texts = new Map<string, string>();
  for (const file of Object.keys(BYTES_MAX)) {
    const bytes = await readPart(folder, file);
    if (!bytes && (file === MANIFEST || file === PAGE))
      throw unusable(say('extension.problem.noFile', { file }));
    if (!bytes) continue;
    // With its length, so that no byte can move from one file to the next.
    hash.update(`${file} ${bytes.length}\n`).update(bytes);
    texts.set(file, textOf(bytes, file));
  }
  const [script, style] = [texts.get(SCRIPT) ?? '', texts.get(STYLE) ?? ''];
  assertContained(script, SCRIPT, [/<\/script/i, /<!--[^]*?<script/i]);
  assertContained(style, STYLE, [/<\/style/i]);
  return {
    manifest: parseManifest(texts.get(MANIFEST) ?? ''),
    page: texts.get(PAGE) ?? '',
    script,
    style,
    fingerprint: hash.digest('hex'),
  };
};
