import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import type { Clock } from '../../../base/clock.ts';
import { toDisposable, type Disposable } from '../../../base/disposable.ts';
import { messageOf } from '../../../base/errors.ts';
import type { Log } from '../../../base/log.ts';
import { writeFileAtomically } from '../../../base/node/atomic-file.ts';
import { etcdEvent, type EtcdEvent, type EtcdView } from '../../../contract/index.ts';
import { makeMetricsFolder } from '../metrics-folder.ts';
import { compareQuorum, NOTHING_SEEN, rememberEvents, type QuorumMemory } from './timeline.ts';

/** Events come in bursts; a burst is one write. */
const SAVE_DELAY_MS = 1_000;

export interface TimelineRecorderOptions {
  readonly file: string;
  readonly clock: Clock;
  readonly log: Log;
  /** False while another process keeps the file. */
  mayWrite(): Promise<boolean>;
}

/** What happened to the quorum, kept in a file so that a restart does not forget it. */
export class TimelineRecorder {
  readonly #options: TimelineRecorderOptions;
  readonly #listeners = new Set<(events: readonly EtcdEvent[]) => void>();
  readonly #loaded: Promise<void>;
  #events: readonly EtcdEvent[] = [];
  #memory: QuorumMemory = NOTHING_SEEN;
  #saving: Disposable | undefined;

  constructor(options: TimelineRecorderOptions) {
    this.#options = options;
    this.#loaded = this.#load();
  }

  async events(): Promise<readonly EtcdEvent[]> {
    await this.#loaded;
    return this.#events;
  }

  /** After every change. */
  onChange(listener: (events: readonly EtcdEvent[]) => void): Disposable {
    this.#listeners.add(listener);
    return toDisposable(() => this.#listeners.delete(listener));
  }

  observe(view: EtcdView): void {
    const { memory, events } = compareQuorum(this.#memory, view);
    this.#memory = memory;
    if (events.length === 0) return;
    this.#events = rememberEvents(this.#events, events);
    for (const listener of this.#listeners) listener(this.#events);
    this.#saving ??= this.#options.clock.after(SAVE_DELAY_MS, () => void this.#save());
  }

  /** The cluster was stopped: what comes next is a start, not a recovery. */
  forgetQuorum(): void {
    this.#memory = NOTHING_SEEN;
    if (this.#saving) void this.#save();
  }

  /** Writes what is not written yet. */
  async close(): Promise<void> {
    this.#listeners.clear();
    if (this.#saving) await this.#save();
  }

  async #load(): Promise<void> {
    const text = await readFile(this.#options.file, 'utf8').catch(() => '[]');
    try {
      const found = v.parse(v.array(etcdEvent), JSON.parse(text));
      // What was seen while the file was read is newer.
      this.#events = rememberEvents(found, this.#events);
    } catch (error) {
      this.#options.log.write('warn', 'failed to read the etcd timeline; starting a new one', {
        file: this.#options.file,
        error: messageOf(error),
      });
    }
  }

  async #save(): Promise<void> {
    const { file, log, mayWrite } = this.#options;
    this.#saving?.dispose();
    this.#saving = undefined;
    try {
      await this.#loaded;
      if (!(await mayWrite())) return;
      await makeMetricsFolder(dirname(file));
      await writeFileAtomically(file, JSON.stringify(this.#events));
    } catch (error) {
      log.write('warn', 'failed to save the etcd timeline', { file, error: messageOf(error) });
    }
  }
}
