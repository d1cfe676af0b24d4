import type { KubernetesObject } from '../../../api/meta/index.ts';
import type { Follower } from '../../informer/internal-informer.ts';
import { bindingOf, policyOf, type Binding, type Policy } from './policy.ts';

/** A policy with the bindings that put it to use. Without any it does nothing and is left out. */
export interface BoundPolicy {
  readonly policy: Policy;
  readonly bindings: readonly Binding[];
}

/** Policies and bindings of one kind as they are read; joined when they are next asked for. */
export class PolicyTable {
  readonly #policies = new Map<string, Policy>();
  readonly #bindings = new Map<string, Binding>();
  #bound: readonly BoundPolicy[] | undefined = [];

  readonly policies: Follower = this.#follower(this.#policies, policyOf);
  readonly bindings: Follower = this.#follower(this.#bindings, bindingOf);

  #follower<T>(known: Map<string, T>, read: (object: KubernetesObject) => T): Follower {
    return {
      upsert: (object) => {
        known.set(object.metadata?.name ?? '', read(object));
        this.#bound = undefined;
      },
      remove: (object) => {
        known.delete(object.metadata?.name ?? '');
        this.#bound = undefined;
      },
    };
  }

  /** By name, each with its bindings by name. */
  bound(): readonly BoundPolicy[] {
    return (this.#bound ??= this.#join());
  }

  #join(): readonly BoundPolicy[] {
    const byName = (a: { readonly name: string }, b: { readonly name: string }): number =>
      a.name < b.name ? -1 : 1;
    const bindings = [...this.#bindings.values()].sort(byName);
    return [...this.#policies.values()]
      .sort(byName)
      .map((policy) => ({
        policy,
        bindings: bindings.filter(({ policyName }) => policyName === policy.name),
      }))
      .filter((bound) => bound.bindings.length > 0);
  }
}
