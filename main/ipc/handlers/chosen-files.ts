import { resolve } from 'node:path';
import { ContractError, say } from '../../../core/contract/index.ts';

/** The oldest choice is forgotten beyond this, and asked for again. */
export const CHOSEN_MAX = 64;

export type Chosen = 'kubeconfig' | 'snapshot';

/** The native dialog; undefined when the person closed it. */
export type ChooseFile = () => Promise<string | undefined>;

/**
 * The files that a person named for one purpose. A page may speak of these alone: a path that it makes up on its own is
 * refused, so that a page that was taken over reads no other file.
 */
export class ChosenFiles {
  readonly #what: Chosen;
  readonly #dialog: ChooseFile | undefined;
  readonly #chosen = new Set<string>();

  /** Without a dialog (in a browser) a typed path is a choice. */
  constructor(what: Chosen, dialog: ChooseFile | undefined) {
    this.#what = what;
    this.#dialog = dialog;
  }

  add(path: string): void {
    const full = resolve(path);
    this.#chosen.delete(full);
    this.#chosen.add(full);
    for (const oldest of this.#chosen) {
      if (this.#chosen.size <= CHOSEN_MAX) break;
      this.#chosen.delete(oldest);
    }
  }

  has(path: string): boolean {
    return this.#chosen.has(resolve(path));
  }

  /** Asks the person, or takes a typed path where typing is how they are asked. */
  async choose(typed: string | undefined): Promise<string> {
    if (this.#dialog === undefined && typed === undefined)
      throw new ContractError('BadRequest', say(`failure.typePath.${this.#what}`));
    if (this.#dialog !== undefined && typed !== undefined && !this.has(typed))
      throw new ContractError('Forbidden', say(`failure.notChosen.${this.#what}`, { path: typed }));
    const path = typed ?? (await this.#dialog?.());
    if (path === undefined) throw new ContractError('Cancelled', say('failure.noneChosen'));
    this.add(path);
    return path;
  }
}
