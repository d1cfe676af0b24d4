import type { KubernetesObject } from '../../../api/meta/index.ts';
import { hooksOf, type Hook } from './hook.ts';

/** The webhooks of all configurations of one kind. */
export interface HookSource {
  /** By the names of configurations, in each of them in its own order. */
  hooks(): readonly Hook[];
}

/** Keeps configurations as they are read; sorted when they are next asked for. */
export class HookTable implements HookSource {
  readonly #byConfiguration = new Map<string, readonly Hook[]>();
  #sorted: readonly Hook[] | undefined = [];

  readonly upsert = (configuration: KubernetesObject): void => {
    this.#byConfiguration.set(configuration.metadata?.name ?? '', hooksOf(configuration));
    this.#sorted = undefined;
  };

  readonly remove = (configuration: KubernetesObject): void => {
    this.#byConfiguration.delete(configuration.metadata?.name ?? '');
    this.#sorted = undefined;
  };

  hooks(): readonly Hook[] {
    return (this.#sorted ??= [...this.#byConfiguration]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([, hooks]) => hooks));
  }
}
