import type { Clock } from '../../base/clock.ts';
import type { Disposable } from '../../base/disposable.ts';
import { messageOf } from '../../base/errors.ts';
import type { Log } from '../../base/log.ts';
import { wait } from '../../base/wait.ts';
import type { GroupResource, GroupVersionResource, KubernetesObject } from '../../api/meta/index.ts';
import type { FieldErrorList } from '../../api/field/field-error.ts';
import type { ObjectReader } from '../storage/object-reader.ts';
import type { UserInfo } from '../server/user.ts';
import type { DiscoveryCatalog } from '../discovery/catalog.ts';
import type { Endpoint } from '../handlers/index.ts';
import type { InternalInformer } from '../informer/internal-informer.ts';
import type { ObjectRegistry } from '../registry/create-registry.ts';
import type { RequestInfo } from '../server/request-info.ts';
import type { WebhookClient } from '../webhook/webhook-client.ts';
import type { CustomResources } from './serving/serve.ts';
import type { DefinitionControl } from './control/definition-control.ts';

/** What only the schema's own code can judge. */
const NEEDS_CHECK = /"(?:x-kubernetes-validations|default|pattern|selectableFields)":/;

/** What is wrong with the defaults, patterns and rules of a definition that is written. Its code is loaded when it is needed. */
export const definitionErrors = async (
  definition: KubernetesObject,
  before: KubernetesObject | undefined,
  found: FieldErrorList,
  minor: number,
): Promise<FieldErrorList> => {
  // Defaults and rules are looked at where nothing else is wrong: they are read by the schemas they stand in.
  if (found.length > 0) return found;
  const text = JSON.stringify(definition['spec'] ?? {});
  if (!NEEDS_CHECK.test(text)) return [];
  const rules = await import('./rules/check-definition.ts');
  return rules.definitionErrors(definition, before, minor);
};

const DEFINITIONS: GroupResource = { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' };
/** How long a request for a resource that another server has just established waits for this one to learn of it. */
const CATCH_UP_MS_MAX = 2_000;
const CATCH_UP_POLL_MS = 20;

export interface ExtensionsOptions {
  readonly registry: ObjectRegistry;
  readonly catalog: DiscoveryCatalog;
  readonly minor: number;
  readonly user: UserInfo;
  /** Calls the conversion webhooks of definitions. */
  readonly webhooks: WebhookClient;
  readonly clock: Clock;
  readonly log: Log;
}

interface Loaded {
  readonly resources: CustomResources;
  readonly control: DefinitionControl;
}

/**
 * Custom resources: follows CustomResourceDefinitions and serves what they define. Its code is loaded with the first
 * definition, so that a cluster without any starts as fast as before.
 */
export class Extensions implements Disposable {
  readonly #options: ExtensionsOptions;
  readonly #life = new AbortController();
  #loading: Promise<Loaded> | undefined;
  #loaded: Loaded | undefined;
  #changes: Promise<void> = Promise.resolve();

  constructor(options: ExtensionsOptions) {
    this.#options = options;
  }

  /** Resolves when what was defined before is served. */
  async follow(informer: InternalInformer): Promise<void> {
    const { ready } = informer.follow(DEFINITIONS, {
      upsert: (definition) =>
        this.#change(definition, ({ resources, control }) => {
          resources.upsert(definition);
          control.upsert(definition);
        }),
      remove: (definition) =>
        this.#change(definition, ({ resources, control }) => {
          resources.remove(definition);
          control.remove(definition);
        }),
    });
    await ready;
    await this.#changes;
  }

  /** What a path names; a resource that this server does not know may have been established elsewhere. */
  find(info: RequestInfo): Endpoint | undefined | Promise<Endpoint | undefined> {
    const known = this.#loaded?.resources.find(info);
    if (known || info.apiGroup === '' || !info.apiGroup.includes('.')) return known;
    return this.#catchUp(info);
  }

  /** For the server's own reads of custom resources, which are in the version that is stored. */
  async inVersion(
    objects: readonly KubernetesObject[],
    resource: GroupVersionResource,
  ): Promise<readonly KubernetesObject[]> {
    await this.#changes;
    return this.#loaded?.resources.inVersion(objects, resource) ?? objects;
  }

  dispose(): void {
    this.#life.abort();
    this.#loaded?.control.dispose();
    this.#loaded?.resources.dispose();
  }

  /** In the order of the informer, one after the other. */
  #change(definition: KubernetesObject, change: (loaded: Loaded) => void): void {
    this.#changes = this.#changes.then(async () => {
      try {
        const loaded = await (this.#loading ??= this.#load());
        if (!this.#life.signal.aborted) change(loaded);
      } catch (error) {
        this.#options.log.write('error', 'a custom resource definition cannot be served', {
          definition: definition.metadata?.name ?? '',
          error: messageOf(error),
        });
      }
    });
  }

  async #load(): Promise<Loaded> {
    const { loadExtensions } = await import('./load.ts');
    this.#loaded = loadExtensions(this.#options);
    return this.#loaded;
  }

  async #catchUp(info: RequestInfo): Promise<Endpoint | undefined> {
    const { registry, clock } = this.#options;
    const reader: ObjectReader = registry.reader;
    const definition = await reader.get(DEFINITIONS, '', `${info.resource}.${info.apiGroup}`, { live: true });
    if (!definition) return undefined;
    const { isServedIn } = await import('./serving/is-served.ts');
    if (!isServedIn(definition, info)) return undefined;
    const endMs = clock.nowMs() + CATCH_UP_MS_MAX;
    while (!this.#life.signal.aborted && clock.nowMs() < endMs) {
      await this.#changes;
      const found = this.#loaded?.resources.find(info);
      if (found) return found;
      await wait(clock, CATCH_UP_POLL_MS, this.#life.signal);
    }
    return undefined;
  }
}
