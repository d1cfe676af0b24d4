import { posix } from 'node:path';
import { messageOf } from '../../../../base/errors.ts';
import {
  encodeHeader,
  END_BYTES,
  paddingOf,
  TarError,
  type TarEntry,
} from '../../../../base/node/tar/header.ts';
import { TarReader } from '../../../../base/node/tar/reader.ts';
import { FileError, LAYER_BYTES_MAX } from './file-system.ts';
import { resolvePath, type Command, type Process } from './process.ts';
import { tarOptions, type TarOptions } from './tar-options.ts';
import { bytesOf, textOf } from './text-bytes.ts';

const EXIT_FAILED = 1;
const UMASK = 0o022;

/** The parts of a member's name below the folder that it is extracted to; undefined for one that leads out of it. */
const partsOf = (name: string, stripped: number): readonly string[] | undefined => {
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  return parts.includes('..') ? undefined : parts.slice(stripped);
};

/** Without what the archive's end needs: names are as given, but never absolute. */
const memberName = (name: string): string => name.replace(/^\/+/, '');

const turn = async (process: Process): Promise<void> => {
  await process.host.budget.step(process.signal);
  await process.ready?.();
};

/** Writes an archive of the members, folders with all that is in them. */
const create = async (process: Process, options: TarOptions): Promise<number> => {
  const files = process.host.fileSystem;
  let status = 0;
  const gathered: Buffer[] = [];
  const put = (bytes: Uint8Array): void =>
    options.archive === '-' ? process.out(textOf(bytes)) : void gathered.push(Buffer.from(bytes));
  const say = options.archive === '-' ? process.err : process.out;
  const readable = (name: string, path: string): Uint8Array | undefined => {
    try {
      return files.read(path);
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      process.err(`tar: can't open '${name}': ${error.why}\n`);
      status = EXIT_FAILED;
      return undefined;
    }
  };
  const add = async (name: string, path: string): Promise<void> => {
    await turn(process);
    const stat = files.stat(path);
    const content = stat.isDirectory ? new Uint8Array() : readable(name, path);
    if (!content) return;
    const entry: TarEntry = {
      name: memberName(name) || './',
      type: stat.isDirectory ? 'directory' : 'file',
      sizeBytes: content.length,
      mode: stat.mode,
      mtimeMs: stat.mtimeMs,
    };
    process.host.budget.charge(content.length);
    put(encodeHeader(entry));
    put(content);
    put(Buffer.alloc(paddingOf(content.length)));
    if (options.isVerbose) say(`${entry.name}\n`);
    if (!stat.isDirectory) return;
    for (const child of files.list(path))
      await add(`${name.replace(/\/+$/, '')}/${child.name}`, posix.join(path, child.name));
  };
  if (options.members.length === 0) throw new Error('empty archive');
  if (options.members.some(({ name }) => name.startsWith('/')))
    process.err("tar: removing leading '/' from member names\n");
  for (const { folder, name } of options.members) {
    const path = resolvePath({ cwd: folder }, name);
    if (files.exists(path)) await add(name, path);
    else {
      process.err(`tar: ${name}: No such file or directory\n`);
      status = EXIT_FAILED;
    }
  }
  put(Buffer.alloc(END_BYTES));
  if (options.archive !== '-') files.write(resolvePath(process, options.archive), Buffer.concat(gathered));
  return status;
};

async function* archiveBytes(process: Process, options: TarOptions): AsyncGenerator<Uint8Array> {
  if (options.archive !== '-') {
    yield process.host.fileSystem.read(resolvePath(process, options.archive));
    return;
  }
  for (let text = await process.input.readSome(); text !== undefined; text = await process.input.readSome())
    yield bytesOf(text);
}

const ensureFolder = (process: Process, path: string): void => {
  const files = process.host.fileSystem;
  const missing: string[] = [];
  for (let at = path; !files.isDirectory(at); at = posix.dirname(at)) missing.push(at);
  for (const each of missing.reverse()) files.makeDirectory(each);
};

/** Takes the members of an archive as they come; what one file holds is counted as memory until it is written. */
class Extraction {
  status = 0;
  readonly #process: Process;
  readonly #options: TarOptions;
  #entry: TarEntry | undefined;
  #path = '';
  #content: Uint8Array[] = [];
  #taken = 0;

  constructor(process: Process, options: TarOptions) {
    this.#process = process;
    this.#options = options;
  }

  begin(entry: TarEntry): void {
    const { folder, stripComponents, members, mode, isVerbose } = this.#options;
    this.#entry = undefined;
    const plain = memberName(entry.name).replace(/\/$/, '');
    const isWanted =
      members.length === 0 || members.some(({ name }) => plain === name || plain.startsWith(`${name}/`));
    if (!isWanted) return;
    if (mode === 'list') return this.#process.out(`${entry.name}\n`);
    const parts = partsOf(entry.name, stripComponents);
    if (!parts) return this.#fail(`${entry.name}: member name contains '..', skipping`);
    if (parts.length === 0) return;
    if (isVerbose) (this.#options.toOutput ? this.#process.err : this.#process.out)(`${entry.name}\n`);
    this.#path = posix.join(folder, ...parts);
    if (entry.type === 'directory') return this.#attempt(() => ensureFolder(this.#process, this.#path));
    if (entry.type !== 'file')
      return this.#fail(`can't create ${entry.type} '${entry.name}': Operation not permitted`);
    if (entry.sizeBytes > LAYER_BYTES_MAX) return this.#fail(`${entry.name}: No space left on device`);
    this.#entry = entry;
  }

  take(bytes: Uint8Array): void {
    if (!this.#entry) return;
    if (this.#options.toOutput) return this.#process.out(textOf(bytes));
    this.#process.host.budget.take(bytes.length);
    this.#taken += bytes.length;
    this.#content.push(Uint8Array.from(bytes));
  }

  finish(): void {
    const entry = this.#entry;
    if (entry && !this.#options.toOutput) {
      const mode = this.#options.keepsModes ? entry.mode : entry.mode & ~UMASK;
      const mtimeMs = this.#options.isTouching ? undefined : entry.mtimeMs;
      this.#attempt(() => {
        ensureFolder(this.#process, posix.dirname(this.#path));
        this.#process.host.fileSystem.write(this.#path, Buffer.concat(this.#content), { mode, mtimeMs });
      });
    }
    this.release();
  }

  release(): void {
    this.#entry = undefined;
    this.#content = [];
    this.#process.host.budget.give(this.#taken);
    this.#taken = 0;
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof FileError)) throw error;
      this.#fail(error.message);
    }
  }

  #fail(why: string): void {
    this.#process.err(`tar: ${why}\n`);
    this.status = EXIT_FAILED;
  }
}

const extract = async (process: Process, options: TarOptions): Promise<number> => {
  if (!process.host.fileSystem.isDirectory(options.folder))
    throw new Error(`can't change directory to '${options.folder}': No such file or directory`);
  const reader = new TarReader();
  const extraction = new Extraction(process, options);
  let isEmpty = true;
  try {
    for await (const bytes of archiveBytes(process, options)) {
      isEmpty = false;
      process.host.budget.charge(bytes.length);
      for (const part of reader.push(bytes)) {
        if (part.part === 'entry') {
          extraction.begin(part.entry);
          await turn(process);
        } else if (part.part === 'content') extraction.take(part.bytes);
        else if (part.part === 'entry-end') extraction.finish();
      }
      await turn(process);
    }
  } finally {
    extraction.release();
  }
  if (isEmpty) throw new Error('short read');
  if (reader.isInside) throw new Error('unexpected end of file');
  return extraction.status;
};

/** The tar of simulated containers: what `kubectl cp` calls, and what people type around it. No compression. */
export const tar: Command = async (process) => {
  try {
    const parsed = tarOptions(process.args, process.cwd);
    const options = { ...parsed, folder: resolvePath(process, parsed.folder) };
    return options.mode === 'create' ? await create(process, options) : await extract(process, options);
  } catch (error) {
    const isExpected =
      error instanceof FileError || error instanceof TarError || error?.constructor === Error;
    if (!isExpected) throw error;
    process.err(`tar: ${messageOf(error)}\n`);
    return EXIT_FAILED;
  }
};
