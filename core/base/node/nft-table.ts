import { execFile } from 'node:child_process';
import { ReasonError } from '../errors.ts';
import { transactionOf, type Ruleset, type TableName } from '../nft-ruleset.ts';

/** A transaction takes milliseconds; ten thousand Services take some seconds. */
const TIMEOUT_MS = 60_000;
const ERROR_CHARACTERS_MAX = 2_000;

/** Runs a program with this input; the command may lead into a network namespace. */
export type RunCommand = (argv: readonly string[], input?: string) => Promise<string>;

export const runCommand: RunCommand = ([program = '', ...args], input = '') =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: TIMEOUT_MS }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout);
      const said = stderr.trim() || error.message;
      reject(
        new ReasonError('CommandFailed', `${program}: ${said.slice(0, ERROR_CHARACTERS_MAX)}`, {
          cause: error,
        }),
      );
    });
    // A program that ends early tells its reason by its exit.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });

/** One table of the kernel, owned by this process: what others wrote there goes with the first transaction. */
export class NftTable {
  readonly #name: TableName;
  readonly #run: RunCommand;
  #written: Ruleset | undefined;

  constructor(name: TableName, run: RunCommand = runCommand) {
    this.#name = name;
    this.#run = run;
  }

  /** All of it or nothing. After a failure the next call writes the table from nothing. */
  async write(ruleset: Ruleset): Promise<void> {
    const script = transactionOf(this.#name, this.#written, ruleset);
    if (script === '') return;
    try {
      await this.#run(['nft', '-f', '-'], script);
      this.#written = ruleset;
    } catch (error) {
      this.#written = undefined;
      throw error;
    }
  }

  async remove(): Promise<void> {
    const table = `${this.#name.family} ${this.#name.name}`;
    this.#written = undefined;
    await this.#run(['nft', '-f', '-'], `add table ${table}\ndelete table ${table}\n`);
  }
}
