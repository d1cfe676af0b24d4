/**
 * Whether mutating plugins run a second time over one object, as upstream decides it: a plugin that was changed after
 * asks for it, and each finds in `state` what it did the first time.
 */
export class Reinvocation {
  /** Set by the chain during the second run. */
  isReinvoked = false;
  /** Set by a plugin that later changes may concern. */
  isWanted = false;
  readonly #state = new Map<string, unknown>();

  /** What one plugin keeps between both runs; made when it is first asked for. */
  state<T>(plugin: string, make: () => T): T {
    let known = this.#state.get(plugin) as T | undefined;
    if (known === undefined) this.#state.set(plugin, (known = make()));
    return known;
  }
}
