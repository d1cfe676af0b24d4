import { groupResourceText, type KubernetesObject } from '../../api/meta/index.ts';
import { discover, InformerFactory, metadataOnly } from '../../client/index.ts';
import type { DiscoveredResource, Kind, Stored } from '../../client/index.ts';
import type { ControllerContext } from '../runtime/controller.ts';
import { preferredResources } from '../runtime/preferred-resources.ts';

/** No one owns or is owned by these, and there are many. */
const IGNORED: ReadonlySet<string> = new Set(['events', 'events.events.k8s.io']);
const NEEDED_VERBS = ['delete', 'list', 'watch', 'get'] as const;

interface Monitor {
  readonly factory: InformerFactory;
  readonly synced: () => boolean;
  whenSynced(signal: AbortSignal): Promise<void>;
}

export interface MonitorHandler {
  observed(kind: Kind, object: Stored): void;
  gone(kind: Kind, object: Stored): void;
}

const nameOf = ({ group, version, plural }: Kind): string =>
  groupResourceText({ group: `${version}.${group}`, resource: plural });

/** All that the graph needs of an object, also from servers that answer with all of it. */
const metadataAlone = (object: Stored<KubernetesObject>): Stored<KubernetesObject> => {
  const { name, namespace, uid, resourceVersion, ownerReferences, finalizers, deletionTimestamp } =
    object.metadata;
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      ...(namespace !== undefined && { namespace }),
      ...(ownerReferences && { ownerReferences }),
      ...(finalizers && { finalizers }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
  };
};

/** One watch for each resource that can be deleted, following what the server offers. */
export class Monitors {
  readonly #context: ControllerContext;
  readonly #handler: MonitorHandler;
  readonly #byName = new Map<string, Monitor>();

  constructor(context: ControllerContext, handler: MonitorHandler) {
    this.#context = context;
    this.#handler = handler;
  }

  get isSynced(): boolean {
    return [...this.#byName.values()].every(({ synced }) => synced());
  }

  async whenSynced(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.#byName.values()].map((monitor) => monitor.whenSynced(signal)));
  }

  /** Watches what is new and lets go of what is no more. A group whose server does not answer is left as it was. */
  async follow(signal: AbortSignal): Promise<void> {
    const discovery = await discover(this.#context.client, { signal });
    const wanted = new Map(
      preferredResources(discovery)
        .filter(
          (resource) =>
            !IGNORED.has(groupResourceText({ group: resource.group, resource: resource.plural })) &&
            NEEDED_VERBS.every((verb) => resource.verbs.includes(verb)),
        )
        .map((resource) => [nameOf(resource), resource]),
    );
    for (const [name, resource] of wanted) if (!this.#byName.has(name)) this.#start(name, resource);
    if (discovery.failed.size > 0) return;
    for (const [name, { factory }] of this.#byName)
      if (!wanted.has(name)) {
        this.#byName.delete(name);
        factory.dispose();
      }
  }

  async stop(): Promise<void> {
    const all = [...this.#byName.values()];
    this.#byName.clear();
    await Promise.all(all.map(({ factory }) => factory.stop()));
  }

  #start(name: string, kind: DiscoveredResource): void {
    const { client, clock, random, log } = this.#context;
    const factory = new InformerFactory({ client: metadataOnly(client), clock, random, log });
    const informer = factory.informer(kind, { transform: metadataAlone });
    informer.addHandler({
      added: (object) => this.#handler.observed(kind, object),
      updated: (before, after) => {
        if (before.metadata.uid !== after.metadata.uid) this.#handler.gone(kind, before);
        this.#handler.observed(kind, after);
      },
      deleted: (object) => this.#handler.gone(kind, object),
    });
    factory.start();
    this.#byName.set(name, {
      factory,
      synced: () => informer.synced,
      whenSynced: (signal) => informer.whenSynced(signal),
    });
  }
}
