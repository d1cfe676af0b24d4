import { isStatusError } from '../../core/api/meta/status.ts';
import { isJsonObject, type KubernetesObject } from '../../core/api/meta/object-meta.ts';
import type { Clock } from '../../core/base/clock.ts';
import { groupBy } from '../../core/base/group-by.ts';
import type { Disposable } from '../../core/base/disposable.ts';
import type { Random } from '../../core/base/random.ts';
import type { Client } from '../../core/client/index.ts';
import { ContractError, inEnglish, say, together, type Said } from '../../core/contract/index.ts';
import { GRAPH_KIND_NAMES, GRAPH_KINDS, type GraphKind } from '../../core/graph/index.ts';
import { failureSaid } from '../kube/failure.ts';
import { LiveList } from '../kube/live-list.ts';
import { resourcePath } from '../kube/resource-path.ts';

export const OBJECTS_PER_KIND_MAX = 5000;

export interface LiveObjectsOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly namespace: string;
  readonly onChange: () => void;
}

const field = (object: unknown, name: string): Record<string, unknown> => {
  const value = isJsonObject(object) ? object[name] : undefined;
  return isJsonObject(value) ? value : {};
};
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const versionOf = (object: unknown): string => textOf(field(object, 'metadata')['resourceVersion']);
const nameOf = (object: unknown): string => textOf(field(object, 'metadata')['name']);

const keysOnly = (data: unknown): Record<string, string> =>
  Object.fromEntries(Object.keys(isJsonObject(data) ? data : {}).map((key) => [key, '']));

/** Without what a graph does not show: values of Secrets must not stay in memory for a picture. */
const slim = (kind: GraphKind, object: Record<string, unknown>): KubernetesObject => {
  const { managedFields: _, ...metadata } = field(object, 'metadata');
  const rest = kind === 'Secret' || kind === 'ConfigMap' ? { data: keysOnly(object['data']) } : object;
  const binary = object['binaryData'] === undefined ? {} : { binaryData: keysOnly(object['binaryData']) };
  return { ...rest, ...binary, metadata };
};

/** Every kind of a graph in one namespace, live until it is disposed. */
export class LiveObjects implements Disposable {
  readonly objects = new Map<GraphKind, Map<string, KubernetesObject>>();
  readonly unread = new Set<GraphKind>();
  readonly #failures = new Map<GraphKind, Said>();
  /** One a kind: a signal that all lists listen to would have too many listeners. */
  readonly #stops: AbortController[] = [];
  readonly #options: LiveObjectsOptions;
  /** Each kind was listed, or cannot be. */
  readonly settled: Promise<unknown>;
  isCut = false;

  constructor(options: LiveObjectsOptions) {
    this.#options = options;
    this.settled = Promise.all(GRAPH_KIND_NAMES.map((kind) => this.#follow(kind)));
  }

  /** What could not be read, for people. */
  get gaps(): Said[] {
    const refused = [...this.unread].filter((kind) => !this.#failures.has(kind));
    // A server that is away fails for all kinds alike: that is said once.
    const alike = groupBy(this.#failures, ([, why]) => inEnglish(why));
    return [
      ...(refused.length > 0 ? [say('graph.gap.refused', { kinds: refused.join(', ') })] : []),
      ...[...alike.values()].map((failures) =>
        say('graph.gap.failed', {
          kind: failures.map(([kind]) => kind).join(', '),
          why: failures[0]?.[1] ?? '',
        }),
      ),
    ];
  }

  /** Why there is nothing to show at all; undefined where something was read. */
  get failure(): ContractError | undefined {
    if (this.unread.size < GRAPH_KIND_NAMES.length) return undefined;
    const [first] = this.#failures.values();
    return first
      ? new ContractError('Unavailable', first)
      : new ContractError('Forbidden', together(this.gaps));
  }

  list(): Map<GraphKind, readonly KubernetesObject[]> {
    return new Map([...this.objects].map(([kind, byName]) => [kind, [...byName.values()]]));
  }

  dispose(): void {
    for (const stop of this.#stops) stop.abort();
  }

  /** Resolves when the kind was listed for the first time, or cannot be. */
  #follow(kind: GraphKind): Promise<void> {
    const { client, clock, random, namespace, onChange } = this.#options;
    const { namespaced, ...resource } = GRAPH_KINDS[kind];
    const stop = new AbortController();
    this.#stops.push(stop);
    const { signal } = stop;
    let listing = new Map<string, KubernetesObject>();
    const put = (into: Map<string, KubernetesObject>, object: unknown): void => {
      if (!isJsonObject(object)) return;
      if (into.size >= OBJECTS_PER_KIND_MAX) this.isCut = true;
      else into.set(nameOf(object), slim(kind, object));
    };
    return new Promise((resolve) => {
      const list = new LiveList({
        client,
        clock,
        random,
        path: resourcePath(resource, namespaced ? namespace : null),
        query: {},
        accept: 'application/json',
        signal,
        sink: {
          onListing: () => {
            listing = new Map();
          },
          onPage: (answer) => {
            const items = isJsonObject(answer) && Array.isArray(answer['items']) ? answer['items'] : [];
            for (const item of items as unknown[]) put(listing, item);
            return {
              resourceVersion: versionOf(answer),
              next: textOf(field(answer, 'metadata')['continue']),
            };
          },
          onListed: () => {
            this.objects.set(kind, listing);
            this.unread.delete(kind);
            this.#failures.delete(kind);
            resolve();
            onChange();
          },
          onEvent: ({ type, object }) => {
            const known = this.objects.get(kind);
            if (known && type === 'DELETED') known.delete(nameOf(object));
            else if (known && type !== 'BOOKMARK') put(known, object);
            if (type !== 'BOOKMARK') onChange();
            return versionOf(object);
          },
          onHealth: ({ error }) => {
            if (error === null) return;
            // Before its first list nothing is known of a kind; afterwards the last state stands.
            if (!this.objects.has(kind)) this.unread.add(kind);
            this.#failures.set(kind, error);
            resolve();
            onChange();
          },
        },
      });
      list
        .run()
        .catch((error: unknown) => {
          this.objects.delete(kind);
          this.unread.add(kind);
          // No permission, or a server without this kind.
          if (!isStatusError(error) || ![403, 404].includes(error.code))
            this.#failures.set(kind, failureSaid(error));
          onChange();
        })
        .finally(resolve);
    });
  }
}
