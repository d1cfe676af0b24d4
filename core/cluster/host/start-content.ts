import { Worker } from 'node:worker_threads';
import {
  CONTENT_RESOURCE_LIMITS,
  threadContent,
} from '../../kubelet/runtimes/simulated/content/thread-channel.ts';
import type { OpenContent } from '../../kubelet/runtimes/simulated/content/content-channel.ts';
import { CACHE_VARIABLE } from './code-cache.ts';
import type { ComponentStart } from './component-thread.ts';
import type { ContentFaults, ContentStart } from './content-thread.ts';
import { NO_FAULTS, type HostFaults } from './messages.ts';

/** The thread of this host's simulated containers; started when one of them needs it. */
export class ContentStarter {
  readonly #workers = new Set<Worker>();
  #faults: HostFaults = NO_FAULTS;
  readonly open: OpenContent;

  constructor(program: URL, place: ComponentStart['place']) {
    this.open = threadContent((content) => {
      const start: ContentStart = { content, place, faults: this.#faults };
      const cache = process.env[CACHE_VARIABLE];
      const worker = new Worker(program, {
        workerData: start,
        // What users' content drives sees nothing of the host's environment.
        env: cache === undefined ? {} : { [CACHE_VARIABLE]: cache },
        resourceLimits: CONTENT_RESOURCE_LIMITS,
      });
      this.#workers.add(worker);
      worker.once('exit', () => this.#workers.delete(worker));
      return worker;
    });
  }

  setFaults(faults: HostFaults): void {
    this.#faults = faults;
    const message: ContentFaults = { kind: 'faults', faults };
    for (const worker of this.#workers) worker.postMessage(message);
  }
}
