import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { constants, Script } from 'node:vm';
import { threadId } from 'node:worker_threads';

/**
 * The code of a program as V8 compiled it, kept between starts. A cluster is twenty threads that load much of the same
 * code; compiling it is what most of a start on a small machine is spent on. Node 22 has such a cache of its own, Node 20
 * has not.
 *
 * One file holds what one kind of thread needs, so that functions that were compiled by then come back too. Whatever is
 * wrong with it (other source, other V8, damaged, of somebody else) costs the compilation and nothing else.
 */
export interface CodeCache {
  /**
   * Writes the cache when something was compiled that it does not hold, or when it is told to because more functions have
   * been compiled since, unless another thread is at it; tells whether it did. Call when the thread has done what it does
   * first.
   */
  save(again?: boolean): boolean;
  /** Lets go of the memory and lets others write; what is loaded from then on is compiled as ever. */
  release(): void;
}

/** The argument that makes the host program compile instead of run: all kinds of threads, or the one that follows it. */
/** Where compiled code is kept: beside the program, unless that lies where nothing may be written. */
export const CACHE_VARIABLE = 'PILOTHOUSE_CODE_CACHE';
export const COMPILE_ARGUMENT = '--compile';

interface Entry {
  readonly file: string;
  readonly sourceHash: string;
  readonly dataHash: string;
  readonly bytes: number;
}

interface CommonJsModule extends NodeJS.Module {
  _compile(content: string, filename: string, ...rest: unknown[]): unknown;
}

const FORMAT = 'pilothouse code cache 1';
const HEADER_LENGTH_BYTES = 4;
/** More is none of ours. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;
/** Longer than anybody takes for it. */
const CLAIM_MS_MAX = 60_000;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
const WRITABLE_BY_OTHERS = 0o022;

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex');

/** It is as good as code: anyone who may write it may do as this process does. */
const isOurs = (path: string): boolean => {
  if (process.platform === 'win32') return true;
  const { uid, mode } = statSync(path);
  return uid === process.getuid?.() && (mode & WRITABLE_BY_OTHERS) === 0;
};

type KnownCode = Map<string, { readonly entry: Entry; readonly data: Buffer }>;

const dataOf = (known: KnownCode, filename: string, sourceHash: string): Buffer | undefined => {
  const held = known.get(filename);
  return held?.entry.sourceHash === sourceHash ? held.data : undefined;
};

const readCache = (path: string): KnownCode => {
  const found: KnownCode = new Map();
  try {
    if (!isOurs(path) || !isOurs(dirname(path)) || statSync(path).size > CACHE_BYTES_MAX) return found;
    const content = readFileSync(path);
    const headerEnd = HEADER_LENGTH_BYTES + content.readUInt32LE(0);
    const header = JSON.parse(content.toString('utf8', HEADER_LENGTH_BYTES, headerEnd)) as {
      format: string;
      entries: readonly Entry[];
    };
    if (header.format !== FORMAT) return found;
    let at = headerEnd;
    for (const entry of header.entries) {
      const data = content.subarray(at, at + entry.bytes);
      at += entry.bytes;
      // V8 does not look at more than a few words of it.
      if (hashOf(data) === entry.dataHash) found.set(entry.file, { entry, data });
    }
  } catch {
    // Missing or damaged: it is rebuilt.
    found.clear();
  }
  return found;
};

const writeCache = (path: string, scripts: ReadonlyMap<string, { script: Script; hash: string }>): void => {
  const parts = [...scripts].map(([file, { script, hash }]) => {
    const data = script.createCachedData();
    const entry: Entry = { file, sourceHash: hash, dataHash: hashOf(data), bytes: data.length };
    return { entry, data };
  });
  const header = Buffer.from(JSON.stringify({ format: FORMAT, entries: parts.map(({ entry }) => entry) }));
  const length = Buffer.alloc(HEADER_LENGTH_BYTES);
  length.writeUInt32LE(header.length);
  const temporary = `${path}.${process.pid}.${threadId}`;
  try {
    writeFileSync(temporary, Buffer.concat([length, header, ...parts.map(({ data }) => data)]), {
      mode: FILE_MODE,
    });
    renameSync(temporary, path);
  } catch {
    // A full disk must not keep half a file.
    rmSync(temporary, { force: true });
  }
};

const claimOf = (path: string): string => `${path}.claim`;

/**
 * The same threads of several hosts start together and have compiled the same: anyone who is first writes for all. What a
 * thread that was killed has left behind is taken over.
 */
const claimTurn = (path: string): boolean => {
  const claim = claimOf(path);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
    if (Date.now() - (statSync(claim, { throwIfNoEntry: false })?.mtimeMs ?? Infinity) > CLAIM_MS_MAX)
      rmSync(claim, { force: true });
    writeFileSync(claim, '', { flag: 'wx', mode: FILE_MODE });
    return true;
  } catch {
    // Another has it, or nothing may be written here.
    return false;
  }
};

/**
 * From here on CommonJS files of this thread are loaded by way of the cache. Call before the first of them. What the build
 * has made knows the modules, but not which functions a start calls: it serves until the first start has kept its own.
 */
export const useCodeCache = (
  directory: string,
  kind: string,
  { isBuild = false }: { readonly isBuild?: boolean } = {},
): CodeCache => {
  const name = `${kind}.${process.versions.v8}-${process.arch}`;
  const builtPath = join(directory, `${name}.built.bin`);
  const path = isBuild ? builtPath : join(directory, `${name}.bin`);
  const own = readCache(path);
  let built: KnownCode | undefined;
  /** Read when something is missing, which is once after a build. */
  const ofBuild = (): KnownCode => (built ??= isBuild ? new Map() : readCache(builtPath));
  const scripts = new Map<string, { script: Script; hash: string }>();
  let isMissing = false;
  let isOurTurn = false;
  const prototype = Module.prototype as unknown as CommonJsModule;
  const compilePlainly = prototype._compile;
  prototype._compile = function (content, filename, ...rest) {
    if (content.startsWith('#!')) return compilePlainly.call(this, content, filename, ...rest);
    const hash = hashOf(content);
    const ownData = dataOf(own, filename, hash);
    const cachedData = ownData ?? dataOf(ofBuild(), filename, hash);
    const script = new Script(Module.wrap(content), {
      filename,
      cachedData,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (ownData === undefined || script.cachedDataRejected === true) isMissing = true;
    scripts.set(filename, { script, hash });
    const run = script.runInThisContext() as (...args: unknown[]) => unknown;
    return run.call(this.exports, this.exports, createRequire(filename), this, filename, dirname(filename));
  };
  return {
    save(again = false) {
      const isOwed = isMissing || again;
      isMissing = false;
      if (!isOwed) return false;
      isOurTurn ||= claimTurn(path);
      if (isOurTurn) writeCache(path, scripts);
      return isOurTurn;
    },
    release() {
      if (isOurTurn) rmSync(claimOf(path), { force: true });
      isOurTurn = false;
      prototype._compile = compilePlainly;
      own.clear();
      built?.clear();
      scripts.clear();
    },
  };
};
