import { readFile } from 'node:fs/promises';
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

  constructor(source: DataOrFile, clock: Clock, refreshMs: number) {
    this.#source = source;
    this.#clock = clock;
    this.#refreshMs = refreshMs;
  }

  /** Undefined when nothing was configured. */
  async read(): Promise<string | undefined> {
    const { data, file } = this.#source;
    if (data !== undefined && data !== '') return data;
    if (file === undefined || file === '') return undefined;
    const nowMs = this.#clock.monotonicMs();
    if (this.#content !== undefined && nowMs - this.#readMs < this.#refreshMs) return this.#content;
    try {
      this.#content = await readFile(file, 'utf8');
      this.#readMs = nowMs;
    } catch (cause) {
      if (this.#content === undefined)
        throw new ClientError('BadCredentials', `cannot read ${file}: ${messageOf(cause)}`, { cause });
    }
    return this.#content;
  }
}
