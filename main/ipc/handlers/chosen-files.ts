import { resolve } from 'node:path';
import { ContractError, say } from '../../../core/contract/index.ts';

/** The oldest choice is forgotten beyond this, and asked for again. */
export const CHOSEN_MAX = 64;

/** The native dialog; undefined when the person closed it. */
export type ChooseFile = () => Promise<string | undefined>;

/**
 * The files that a person named for one purpose. A page may speak of these alone: a path that it makes up on its own is
 * refused, so that a page that was taken over reads no other file.
 */
export class ChosenFiles {
  readonly #what: string;
  readonly #dialog: ChooseFile | undefined;
  readonly #chosen = new Set<string>();

  /** Without a dialog (in a browser) a typed path is a choice. */
  constructor(what: string, dialog: ChooseFile | undefined) {
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
      throw new ContractError(
        'BadRequest',
        `type the path of the ${this.#what} on the machine that serves the console`,
      );
    if (this.#dialog !== undefined && typed !== undefined && !this.has(typed))
      throw ContractError.saying('Forbidden', say('failure.notChosen', { what: this.#what, path: typed }));
    const path = typed ?? (await this.#dialog?.());
    if (path === undefined) throw new ContractError('Cancelled', 'no file was chosen');
    this.add(path);
    return path;
  }
}
