import { readFile, stat } from 'node:fs/promises';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';
import type { DataOrFile } from './config.ts';
import { ClientError } from './errors.ts';

/**
 * A value that may be in a file. The file is read again after `refreshMs`, on demand: anyone who renews a certificate
 * or token just writes it. While a file that was good cannot be read, its last content stays in use.
 */
export class FileContent {
  readonly #source: DataOrFile;
  readonly #clock: Clock;
  readonly #refreshMs: number;
  #content: string | undefined;
  #readMs = -Infinity;
  #modifiedMs: number | undefined;

  constructor(source: DataOrFile, clock: Clock, refreshMs: number) {
    this.#source = source;
    this.#clock = clock;
    this.#refreshMs = refreshMs;
    this.#content = source.known?.value;
    this.#modifiedMs = source.known?.modifiedMs;
  }

  /** Undefined when nothing was configured. */
  async read(): Promise<string | undefined> {
    const { data, file, extract } = this.#source;
    if (data !== undefined && data !== '') return data;
    if (file === undefined || file === '') return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (this.#content !== undefined && nowMs - this.#readMs < this.#refreshMs) return this.#content;
    try {
      const { mtimeMs } = await stat(file);
      this.#readMs = nowMs;
      if (this.#source.known && mtimeMs === this.#modifiedMs) return this.#content;
      const content = await readFile(file, 'utf8');
      const value = extract ? extract(content) : content;
      if (value === undefined) throw new Error('it does not hold what it held');
      this.#content = value;
      this.#modifiedMs = mtimeMs;
    } catch (cause) {
      if (this.#content === undefined)
        throw new ClientError('BadCredentials', `cannot read ${file}: ${messageOf(cause)}`, { cause });
    }
    return this.#content;
  }
}
