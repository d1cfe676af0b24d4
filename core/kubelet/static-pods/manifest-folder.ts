import { watch, type FSWatcher } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { formatTime } from '../../api/meta/time.ts';
import type { V1Pod } from '../../api/schema/index.ts';
import { readManifest } from './manifest.ts';

/** Editors write a file in several steps: what follows closely is one change. */
export const DEBOUNCE_MS = 100;
/** Watches of folders miss changes on some file systems; upstream looks every 20 s too. */
export const RESCAN_MS = 20_000;
export const MANIFEST_BYTES_MAX = 10 * 1024 * 1024;
export const MANIFESTS_MAX = 1_000;

export interface ManifestFolderOptions {
  readonly folder: string;
  readonly nodeName: string;
  readonly minor: number;
  readonly clock: Clock;
  readonly log: Log;
  /** All static pods, after each change. A file that has become unreadable keeps its last good pod. */
  onPods(pods: readonly V1Pod[]): void;
  /** Once for each new state of a file that cannot be used. */
  onProblem(file: string, message: string): void;
}

interface KnownFile {
  readonly text: string;
  /** The last good one. */
  readonly pod: V1Pod | undefined;
}

/** Watches a host's `manifests/` folder. It may be absent, come later, and go. */
export class ManifestFolder implements Disposable {
  readonly #options: ManifestFolderOptions;
  readonly #files = new Map<string, KnownFile>();
  #watcher: FSWatcher | undefined;
  #debounce: Disposable | undefined;
  #rescan: Disposable | undefined;
  #isScanning = false;
  #isStale = false;
  #isDisposed = false;
  #told = '';

  constructor(options: ManifestFolderOptions) {
    this.#options = options;
  }

  /** Resolves after the first look at the folder. */
  async start(): Promise<void> {
    await this.#scan();
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#watcher?.close();
    this.#debounce?.dispose();
    this.#rescan?.dispose();
  }

  #watch(): void {
    if (this.#watcher || this.#isDisposed) return;
    try {
      const watcher = watch(this.#options.folder, () => this.#soon());
      watcher.once('error', () => {
        watcher.close();
        this.#watcher = undefined;
      });
      this.#watcher = watcher;
    } catch (error) {
      // An absent folder is looked for again with the next scan.
      this.#options.log.write('debug', 'manifest folder is not watched', { error: messageOf(error) });
    }
  }

  #soon(): void {
    this.#debounce?.dispose();
    this.#debounce = this.#options.clock.after(DEBOUNCE_MS, () => void this.#scan());
  }

  async #scan(): Promise<void> {
    if (this.#isDisposed) return;
    this.#isStale = true;
    if (this.#isScanning) return;
    this.#isScanning = true;
    while (this.#isStale && !this.#isDisposed) {
      this.#isStale = false;
      this.#watch();
      await this.#read();
    }
    this.#isScanning = false;
    this.#rescan?.dispose();
    if (!this.#isDisposed) this.#rescan = this.#options.clock.after(RESCAN_MS, () => void this.#scan());
  }

  async #read(): Promise<void> {
    const { folder, log } = this.#options;
    let names: string[];
    try {
      names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        return log.write('error', 'unable to read config path', { path: folder, error: messageOf(error) });
      this.#watcher?.close();
      this.#watcher = undefined;
      names = [];
    }
    for (const known of [...this.#files.keys()]) if (!names.includes(known)) this.#files.delete(known);
    for (const name of names.slice(0, MANIFESTS_MAX)) await this.#readFile(name);
    this.#tell();
  }

  async #readFile(name: string): Promise<void> {
    const { folder, nodeName, minor, clock } = this.#options;
    const file = join(folder, name);
    const known = this.#files.get(name);
    try {
      const info = await stat(file);
      if (!info.isFile()) return;
      if (info.size > MANIFEST_BYTES_MAX)
        throw new Error(`the file is larger than ${MANIFEST_BYTES_MAX} bytes`);
      const text = await readFile(file, 'utf8');
      if (known?.text === text) return;
      this.#files.set(name, { text, pod: known?.pod });
      const pod = readManifest(text, { nodeName, file, minor, now: formatTime(clock.nowMs()) });
      this.#files.set(name, { text, pod });
    } catch (error) {
      // Gone between the listing and the reading: the next scan sees it.
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') this.#files.delete(name);
      else this.#options.onProblem(file, messageOf(error));
    }
  }

  #tell(): void {
    const pods = new Map<string, V1Pod>();
    for (const { pod } of this.#files.values()) {
      const key = pod && `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
      if (key === undefined) continue;
      // The first file in the order of names has the name; a copy beside it is not run twice.
      if (pods.has(key)) this.#options.log.write('warn', 'two manifests name the same pod', { pod: key });
      else pods.set(key, pod!);
    }
    const state = [...pods].map(([key, pod]) => `${key}@${pod.metadata?.uid ?? ''}`).join();
    if (state === this.#told && this.#files.size > 0) return;
    this.#told = state;
    this.#options.onPods([...pods.values()]);
  }
}
