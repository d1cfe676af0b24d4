import { mkdir, readFile, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { say, SaidError, type Said } from '../../contract/index.ts';
import { PRIVATE_FOLDER_MODE } from './layout.ts';

/** A small JSON file of the data folder, such as what an operation has begun. */
export interface StateFile<T> {
  /** Undefined where there is none; `BadConfiguration` where it is damaged. */
  read(data: string): Promise<T | undefined>;
  write(data: string, state: T): Promise<void>;
  forget(data: string): Promise<void>;
}

export const stateFile = <Schema extends v.GenericSchema>(options: {
  readonly schema: Schema;
  path(data: string): string;
  /** What to do about a damaged one: `delete it, then ...`. */
  readonly remedy: Said;
}): StateFile<v.InferOutput<Schema>> => ({
  async read(data) {
    const path = options.path(data);
    let text: string;
    try {
      text = await readFile(path, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw cause;
    }
    try {
      return v.parse(options.schema, JSON.parse(text));
    } catch (cause) {
      const { remedy } = options;
      const what = say('directory.damaged', { path, why: messageOf(cause), remedy });
      throw new SaidError('BadConfiguration', what, { cause });
    }
  },
  async write(data, state) {
    const path = options.path(data);
    await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER_MODE });
    await writeFileAtomically(path, `${JSON.stringify(v.parse(options.schema, state), undefined, 2)}\n`);
  },
  forget: (data) => rm(options.path(data), { force: true }),
});
