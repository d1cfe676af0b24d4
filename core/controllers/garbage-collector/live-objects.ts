import type { Clock } from '../../base/clock.ts';
import { isConflict, isNotFound, parseApiVersion, type OwnerReference } from '../../api/meta/index.ts';
import { pause, RestMapper, type Client, type Stored } from '../../client/index.ts';
import type { ObjectNode } from './owner-graph.ts';
import { coordinatesOf, isDeletingDependents } from './references.ts';

export type OwnerState = 'solid' | 'absent' | 'waiting';

/** As upstream: owners that were found to be absent, for the many dependents that one may leave. */
const ABSENT_MAX = 500;
const TRIES_MAX = 5;
const CONFLICT_PAUSE_MS = 100;

/** What the collector asks of the server and writes: never believed from a cache, since a deletion is for good. */
export class LiveObjects {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #mapper: RestMapper;
  readonly #absent = new Set<string>();

  constructor(client: Client, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
    this.#mapper = new RestMapper(client, clock);
  }

  /** The object of a node; undefined when it is gone, or another has its name. */
  async read(node: ObjectNode): Promise<Stored | undefined> {
    const found = await this.#client.resource(node.kind, node.namespace).find(node.name);
    return found?.metadata.uid === node.uid ? found : undefined;
  }

  /** Rejects for a kind that the server does not know (yet): its objects must not be taken for gone. */
  async ownerState(reference: OwnerReference, namespace: string): Promise<OwnerState> {
    const coordinates = coordinatesOf(reference, namespace);
    if (this.#absent.has(coordinates)) return 'absent';
    const gv = parseApiVersion(reference.apiVersion) ?? { group: '', version: '' };
    const kind = await this.#mapper.ofKind({ ...gv, kind: reference.kind });
    if (!kind)
      throw new Error(`no matches for kind "${reference.kind}" in version "${reference.apiVersion}"`);
    if (kind.namespaced && namespace === '')
      throw new Error(`cluster-scoped objects cannot refer to namespaced owners: ${coordinates}`);
    const owner = await this.#client
      .resource(kind, kind.namespaced ? namespace : undefined)
      .find(reference.name);
    if (owner?.metadata.uid !== reference.uid) {
      this.#rememberAbsent(coordinates);
      return 'absent';
    }
    return isDeletingDependents(owner.metadata) ? 'waiting' : 'solid';
  }

  async delete(
    node: ObjectNode,
    live: Stored,
    propagationPolicy: 'Orphan' | 'Background' | 'Foreground',
  ): Promise<void> {
    try {
      // With the version that was judged: an owner that was added since must not lose its dependent.
      const { uid, resourceVersion } = live.metadata;
      await this.#client
        .resource(node.kind, node.namespace)
        .delete(node.name, { propagationPolicy, preconditions: { uid, resourceVersion } });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
  }

  /** Changes the owners of an object, reading it again when somebody else was faster. */
  changeOwners(
    node: ObjectNode,
    change: (owners: readonly OwnerReference[]) => readonly OwnerReference[],
  ): Promise<void> {
    return this.#change(node, ({ metadata }) => {
      const before = metadata.ownerReferences ?? [];
      const ownerReferences = change(before);
      const isSame =
        before.length === ownerReferences.length && before.every((one, i) => one === ownerReferences[i]);
      return isSame ? undefined : { ownerReferences };
    });
  }

  removeFinalizer(node: ObjectNode, finalizer: string): Promise<void> {
    return this.#change(node, ({ metadata }) =>
      metadata.finalizers?.includes(finalizer)
        ? { finalizers: metadata.finalizers.filter((one) => one !== finalizer) }
        : undefined,
    );
  }

  async #change(node: ObjectNode, change: (live: Stored) => object | undefined): Promise<void> {
    const resource = this.#client.resource(node.kind, node.namespace);
    for (let tries = 1; ; tries += 1) {
      const live = await this.read(node);
      const metadata = live && change(live);
      if (!live || !metadata) return;
      const { resourceVersion, uid } = live.metadata;
      try {
        // A merge patch, because custom resources take no strategic ones.
        await resource.patch(node.name, {
          type: 'merge',
          body: { metadata: { ...metadata, resourceVersion, uid } },
        });
        return;
      } catch (error) {
        if (isNotFound(error)) return;
        if (!isConflict(error) || tries >= TRIES_MAX) throw error;
        await pause(this.#clock, CONFLICT_PAUSE_MS);
      }
    }
  }

  #rememberAbsent(coordinates: string): void {
    if (this.#absent.size >= ABSENT_MAX) this.#absent.delete(this.#absent.values().next().value!);
    this.#absent.add(coordinates);
  }
}
