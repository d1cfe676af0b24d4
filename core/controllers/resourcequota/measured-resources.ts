import type { KubernetesObject } from '../../api/meta/index.ts';
import { evaluatorOf, sameResources, type Evaluator } from '../../api/quota/index.ts';
import { RestMapper, type DiscoveredResource, type Informer, type Stored } from '../../client/index.ts';
import type { ControllerContext } from '../runtime/controller.ts';
import { preferredResources } from '../runtime/preferred-resources.ts';

export interface MeasuredResource {
  readonly evaluator: Evaluator;
  readonly informer: Informer<KubernetesObject>;
}

/** Something of a resource was given back, or changed what it uses. */
export type UsageListener = (namespace: string, evaluator: Evaluator) => void;

/** Watches the resources that quotas limit, and only those: most clusters limit a handful of all. */
export class MeasuredResources {
  readonly #context: ControllerContext;
  readonly #mapper: RestMapper;
  readonly #onChange: UsageListener;
  readonly #watched = new Map<string, MeasuredResource>();

  constructor(context: ControllerContext, onChange: UsageListener) {
    this.#context = context;
    this.#mapper = new RestMapper(context.client, context.clock);
    this.#onChange = onChange;
  }

  /** What measures any of the names. Rejects while a list is still on its way: a partial count would be wrong. */
  async forNames(names: readonly string[]): Promise<MeasuredResource[]> {
    const found = this.#matching(preferredResources(await this.#mapper.discovery()), names);
    const known = new Set(found.flatMap(({ evaluator }) => evaluator.matchingResources(names)));
    const all = names.every((name) => known.has(name))
      ? found
      : this.#matching(preferredResources(await this.#mapper.refresh()), names);
    const watched = all.map(({ resource, evaluator }) => this.#watch(resource, evaluator));
    const missing = watched.find(({ informer }) => !informer.synced);
    if (missing) throw new Error(`the list of ${missing.informer.kind.plural} is not here yet`);
    return watched;
  }

  #matching(
    resources: readonly DiscoveredResource[],
    names: readonly string[],
  ): { resource: DiscoveredResource; evaluator: Evaluator }[] {
    return resources.flatMap((resource) => {
      if (!resource.namespaced || !['list', 'watch', 'create'].every((verb) => resource.verbs.includes(verb)))
        return [];
      const evaluator = evaluatorOf({ group: resource.group, resource: resource.plural });
      return evaluator && evaluator.matchingResources(names).length > 0 ? [{ resource, evaluator }] : [];
    });
  }

  #watch(resource: DiscoveredResource, evaluator: Evaluator): MeasuredResource {
    const key = `${resource.group}/${resource.version}/${resource.plural}`;
    const known = this.#watched.get(key);
    if (known) return known;
    const { informers, clock } = this.#context;
    const informer = informers.informer(resource);
    const tell = ({ metadata }: Stored): void => this.#onChange(metadata.namespace ?? '', evaluator);
    informer.addHandler({
      // Admission charges what is created; what is given back is found out here.
      deleted: tell,
      updated: (before, after) => {
        const nowMs = clock.nowMs();
        if (before !== after && !sameResources(evaluator.usage(before, nowMs), evaluator.usage(after, nowMs)))
          tell(after);
      },
    });
    informers.start();
    const measured = { evaluator, informer };
    this.#watched.set(key, measured);
    return measured;
  }
}
