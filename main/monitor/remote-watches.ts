import type { Clock } from '../../core/base/clock.ts';
import { DisposableStore, toDisposable, type Disposable } from '../../core/base/disposable.ts';
import type { Log } from '../../core/base/log.ts';
import { systemRandom } from '../../core/base/node/random.ts';
import { isStatusError } from '../../core/api/meta/status.ts';
import { NODE, type Client } from '../../core/client/index.ts';
import { MemoryHistory } from '../../core/cluster/monitor/history/history.ts';
import type { Histories } from '../../core/cluster/monitor/history/query.ts';
import { IN_FLIGHT_DEFAULTS } from '../../core/cluster/data-folder/in-flight-limits.ts';
import { LeasesWatch } from '../../core/cluster/monitor/leases/leases-watch.ts';
import { Sampler, type SampledTarget } from '../../core/cluster/monitor/sampler.ts';

/** Gentler than at home: these are requests to somebody's API server. */
const SAMPLE_INTERVAL_MS = 10_000;
const SAMPLES_MAX = 720;
const MINUTES_MAX = 240;
const NODES_MAX = 64;
const NODES_FRESH_MS = 60_000;
const SCRAPE_TIMEOUT_MS = 8_000;
/** Between two pages that look at the same cluster. */
const LINGER_MS = 120_000;
const WATCHES_MAX = 8;

interface RemoteTarget extends SampledTarget {
  readonly paths: readonly string[];
}

const FORBIDDEN = 403;

interface SamplerSurroundings {
  readonly clock: Clock;
  readonly log: Log;
  beforeSample(): Promise<void>;
}

/** The API server itself, and kubelets through it where the user may. */
const remoteSampler = (
  client: Client,
  histories: Histories,
  { clock, log, beforeSample }: SamplerSurroundings,
): Sampler<RemoteTarget> => {
  const server: RemoteTarget = {
    component: 'kube-apiserver',
    instance: 'kube-apiserver',
    paths: ['/metrics'],
  };
  let nodes: readonly RemoteTarget[] = [];
  let nodesAtMs = -Infinity;
  let areNodesRefused = false;
  const listNodes = async (): Promise<void> => {
    if (areNodesRefused || clock.monotonicMs() - nodesAtMs < NODES_FRESH_MS) return;
    nodesAtMs = clock.monotonicMs();
    try {
      const { items } = await client.resource(NODE).list({ limit: NODES_MAX, timeoutMs: SCRAPE_TIMEOUT_MS });
      nodes = items.map(({ metadata: { name } }) => ({
        component: 'kubelet',
        instance: name,
        paths: ['/metrics', '/metrics/resource'].map((path) => `/api/v1/nodes/${name}/proxy${path}`),
      }));
    } catch (error) {
      log.write('debug', 'failed to list the nodes of a cluster', { error });
    }
  };
  return new Sampler<RemoteTarget>({
    async targets() {
      await beforeSample();
      await listNodes();
      return [server, ...(areNodesRefused ? [] : nodes)];
    },
    async scrape({ component, paths }) {
      const texts: string[] = [];
      for (const path of paths) {
        try {
          texts.push(
            await client.text({ method: 'GET', path, timeoutMs: SCRAPE_TIMEOUT_MS, accept: 'text/plain' }),
          );
        } catch (error) {
          // What one kubelet refuses, all do.
          if (component === 'kubelet' && isStatusError(error) && error.code === FORBIDDEN)
            areNodesRefused = true;
          throw error;
        }
      }
      return texts;
    },
    limits: () => Promise.resolve(IN_FLIGHT_DEFAULTS),
    peerName: (id) => id,
    histories,
    intervalMs: SAMPLE_INTERVAL_MS,
    clock,
    log,
  });
};

export interface RemoteWatch {
  readonly client: Client;
  /** Aborted when another takes its place; anyone who follows it asks for that one. */
  readonly over: AbortSignal;
  readonly histories: Histories;
  readonly sampler: Sampler<RemoteTarget>;
  /** Begins with the first that asks for it. */
  leases(): LeasesWatch;
}

interface Opened {
  readonly watch: RemoteWatch;
  readonly owned: DisposableStore;
  readonly over: AbortController;
  isClosed: boolean;
  users: number;
  ending: Disposable | undefined;
}

export interface RemoteWatchesOptions {
  connect(clusterId: string): Promise<{ readonly client: Client }>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Clusters of kubeconfigs, each watched while a page shows it and a little longer. */
export class RemoteWatches implements Disposable {
  readonly #options: RemoteWatchesOptions;
  readonly #opened = new Map<string, Promise<Opened>>();

  constructor(options: RemoteWatchesOptions) {
    this.#options = options;
  }

  /** The watch of a cluster, until the use is disposed. */
  async use(id: string): Promise<{ readonly watch: RemoteWatch; readonly use: Disposable }> {
    const opened = await this.#current(id);
    opened.users += 1;
    opened.ending?.dispose();
    opened.ending = undefined;
    const use = toDisposable(() => {
      opened.users -= 1;
      if (opened.users === 0 && !opened.isClosed)
        opened.ending = this.#options.clock.after(LINGER_MS, () => this.#close(id, opened));
    });
    return { watch: opened.watch, use };
  }

  dispose(): void {
    for (const [id, opening] of [...this.#opened])
      void opening.then(
        (opened) => this.#close(id, opened),
        () => undefined,
      );
    this.#opened.clear();
  }

  /** A kubeconfig that was replaced has another client; what was measured stays. */
  async #current(id: string): Promise<Opened> {
    const { client } = await this.#options.connect(id);
    const known = this.#opened.get(id);
    if (!known) return this.#open(id, client);
    const opened = await known;
    if (opened.watch.client === client) return opened;
    // Somebody else may have replaced it while it was waited for.
    if (this.#opened.get(id) !== known) return this.#current(id);
    this.#close(id, opened);
    return this.#open(id, client, opened.watch.histories);
  }

  #open(id: string, client: Client, histories?: Histories): Promise<Opened> {
    const opening = this.#make(id, client, histories);
    this.#opened.set(id, opening);
    opening.catch(() => {
      if (this.#opened.get(id) === opening) this.#opened.delete(id);
    });
    return opening;
  }

  async #make(
    id: string,
    client: Client,
    histories: Histories = { raw: new MemoryHistory(SAMPLES_MAX), minute: new MemoryHistory(MINUTES_MAX) },
  ): Promise<Opened> {
    await this.#closeIdle();
    const { clock, log } = this.#options;
    const owned = new DisposableStore();
    const over = new AbortController();
    const beforeSample = async (): Promise<void> => {
      // What cannot be connected now says so to anyone who asks; its watch may come back.
      const now = await this.#options.connect(id).catch(() => undefined);
      if (now && now.client !== client) over.abort();
    };
    const sampler = owned.add(remoteSampler(client, histories, { clock, log, beforeSample }));
    sampler.start();
    let leases: LeasesWatch | undefined;
    const watch: RemoteWatch = {
      client,
      over: over.signal,
      histories,
      sampler,
      leases() {
        if (leases) return leases;
        leases = owned.add(new LeasesWatch({ client, clock, random: systemRandom, log }));
        leases.start();
        return leases;
      },
    };
    return { watch, owned, over, isClosed: false, users: 0, ending: undefined };
  }

  async #closeIdle(): Promise<void> {
    for (const [id, opening] of [...this.#opened]) {
      if (this.#opened.size < WATCHES_MAX) return;
      const opened = await opening.catch(() => undefined);
      if (opened?.users === 0) this.#close(id, opened);
    }
  }

  #close(id: string, opened: Opened): void {
    if (opened.isClosed) return;
    opened.isClosed = true;
    this.#opened.delete(id);
    opened.over.abort();
    opened.ending?.dispose();
    opened.owned.dispose();
  }
}
