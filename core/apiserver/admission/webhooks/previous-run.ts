import type { KubernetesObject } from '../../../api/meta/index.ts';
import { jsonEquals, type Json } from '../../../api/patch/json.ts';

/** What mutating webhooks or policies did in the first run over an object: which of them later changes concern. */
export class PreviousRun {
  #output: Json | undefined;
  readonly #invoked = new Set<string>();
  readonly #required = new Set<string>();

  isChangedSince(object: KubernetesObject | undefined): boolean {
    return !jsonEquals(this.#output ?? null, (object ?? null) as unknown as Json);
  }

  isRequired(uid: string): boolean {
    return this.#required.has(uid);
  }

  /** It ran and wants to run again if something changes after it. */
  invoked(uid: string): void {
    this.#invoked.add(uid);
  }

  /** Something changed: whatever ran before has to run again. */
  requireEarlier(): void {
    for (const uid of this.#invoked) this.#required.add(uid);
    this.#invoked.clear();
  }

  /** Plugins change objects in place: what is compared later is a copy. */
  finish(object: KubernetesObject | undefined): void {
    this.#output = object === undefined ? undefined : (structuredClone(object) as unknown as Json);
  }
}
