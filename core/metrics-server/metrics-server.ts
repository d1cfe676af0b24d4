import type { Clock } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import { wait } from '../base/wait.ts';
import type { KubernetesObject } from '../api/meta/index.ts';
import type { FieldSelector, LabelSelector } from '../api/selector/index.ts';
import { nodeMetrics, podMetrics, type Resource } from './documents.ts';
import type { NodeSample } from './exposition.ts';
import { MetricsStorage } from './storage.ts';

/** As upstream's manifests set --metric-resolution. */
export const RESOLUTION_MS = 15_000;
/** How long after a request samples are still taken. */
const INTEREST_MS = 5 * 60_000;
/** Between the two samples that a request waits for after a pause. */
const FIRST_WINDOW_MS = 1_000;

export interface MetricsSource {
  /** All nodes, or pods of a namespace; of all namespaces where it is empty. */
  list(resource: Resource, namespace: string): readonly KubernetesObject[];
  find(resource: Resource, namespace: string, name: string): KubernetesObject | undefined;
  scrape(): Promise<ReadonlyMap<string, NodeSample>>;
}

export interface MetricsQuery {
  readonly resource: Resource;
  readonly namespace: string;
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Samples kubelets while there are requests, and answers from the last two samples. */
export class MetricsServer implements Disposable {
  readonly #source: MetricsSource;
  readonly #clock: Clock;
  readonly #storage = new MetricsStorage(RESOLUTION_MS);
  readonly #stop = new AbortController();
  #askedMs = -Infinity;
  #scrapedMs = -Infinity;
  #scrapes = 0;
  #filling: Promise<void> | undefined;
  #timer: Disposable | undefined;

  constructor(source: MetricsSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** How often kubelets have been asked. */
  get scrapes(): number {
    return this.#scrapes;
  }

  async list({ resource, namespace, labels, fields }: MetricsQuery): Promise<readonly KubernetesObject[]> {
    await this.#fresh();
    return this.#source
      .list(resource, namespace)
      .filter(
        ({ metadata = {} }) =>
          labels.matches(metadata.labels ?? {}) &&
          fields.matches((field) =>
            field === 'metadata.name'
              ? metadata.name
              : field === 'metadata.namespace'
                ? metadata.namespace
                : '',
          ),
      )
      .map((object) => this.#metricsOf(resource, object))
      .filter((metrics) => metrics !== undefined);
  }

  async get(resource: Resource, namespace: string, name: string): Promise<KubernetesObject | undefined> {
    await this.#fresh();
    const object = this.#source.find(resource, namespace, name);
    return object && this.#metricsOf(resource, object);
  }

  dispose(): void {
    this.#stop.abort();
    this.#timer?.dispose();
  }

  #metricsOf(resource: Resource, object: KubernetesObject): KubernetesObject | undefined {
    const { namespace = '', name = '' } = object.metadata ?? {};
    const nowMs = this.#clock.nowMs();
    if (resource === 'nodes') {
      const usage = this.#storage.node(name);
      return usage && nodeMetrics(object, usage, nowMs);
    }
    const usage = this.#storage.pod(namespace, name);
    return usage && podMetrics(object, usage, nowMs);
  }

  /** Resolves when the samples are recent; begins to take them where no one had asked for a while. */
  async #fresh(): Promise<void> {
    this.#askedMs = this.#clock.monotonicMs();
    const isRecent = this.#askedMs - this.#scrapedMs < 2 * RESOLUTION_MS;
    if (isRecent && this.#timer) return;
    this.#filling ??= this.#fill(isRecent).finally(() => (this.#filling = undefined));
    await this.#filling;
  }

  async #fill(isRecent: boolean): Promise<void> {
    if (!isRecent) {
      await this.#scrape();
      await wait(this.#clock, FIRST_WINDOW_MS, this.#stop.signal);
      await this.#scrape();
    }
    this.#arm();
  }

  #arm(): void {
    if (this.#stop.signal.aborted || this.#timer) return;
    this.#timer = this.#clock.after(RESOLUTION_MS, () => {
      this.#timer = undefined;
      if (this.#clock.monotonicMs() - this.#askedMs > INTEREST_MS) return;
      const again = (): void => this.#arm();
      this.#scrape().then(again, again);
    });
  }

  async #scrape(): Promise<void> {
    if (this.#stop.signal.aborted) return;
    this.#scrapes += 1;
    const samples = await this.#source.scrape();
    this.#storage.store(samples);
    this.#scrapedMs = this.#clock.monotonicMs();
  }
}
