import { mkdirSync, readFileSync, renameSync, statSync, existsSync } from 'node:fs';
import { say, saidOf, SaidError } from '../../core/contract/index.ts';
import { dirname } from 'node:path';
import * as v from 'valibot';
import { messageOf } from '../../core/base/errors.ts';
import { jsonFault, schemaFault } from '../../core/base/parse-fault.ts';
import { writeFileAtomically } from '../../core/base/node/atomic-file.ts';

const DOCUMENT_BYTES_MAX = 1024 * 1024;
const DAMAGED_COPIES_MAX = 99;
const PRIVATE_DIRECTORY_MODE = 0o700;

/** A file that could not be used. `keptAs` is where its contents went, absent when it could not be read. */
export interface Damage {
  readonly path: string;
  readonly message: string;
  readonly keptAs?: string;
}

export interface JsonDocumentOptions<T extends object> {
  readonly path: string;
  readonly schema: v.GenericSchema<unknown, T>;
  readonly initial: T;
  readonly onDamage: (damage: Damage) => void;
}

/** A small JSON file that this process owns, held in memory. */
export interface JsonDocument<T> {
  readonly value: T;
  /** Runs changes one after the other. The value changes only once the file is durable. */
  change(next: (value: T) => T): Promise<T>;
}

const isMissing = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'ENOENT';

const freeDamagedName = (path: string): string => {
  for (let n = 1; n < DAMAGED_COPIES_MAX; n += 1)
    if (!existsSync(`${path}.damaged-${n}`)) return `${path}.damaged-${n}`;
  return `${path}.damaged-${DAMAGED_COPIES_MAX}`;
};

const readText = (path: string): string => {
  if (statSync(path).size > DOCUMENT_BYTES_MAX)
    throw new SyntaxError(`it is larger than ${DOCUMENT_BYTES_MAX} bytes`);
  return readFileSync(path, 'utf8');
};

/** What `JSON.parse` says quotes the text. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new SyntaxError(`it is not valid JSON: ${jsonFault(text)}`);
  }
};

/** Keys that an older version did not know take their initial value; anything else out of schema is damage. */
const parseDocument = <T extends object>(text: string, options: JsonDocumentOptions<T>): T => {
  const raw = parseJson(text);
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw))
    throw new SyntaxError('it does not contain a JSON object');
  const parsed = v.safeParse(options.schema, { ...options.initial, ...raw });
  if (parsed.success) return parsed.output;
  throw new SyntaxError(schemaFault(parsed.issues));
};

const load = <T extends object>(options: JsonDocumentOptions<T>): T => {
  const { path, initial, onDamage } = options;
  try {
    return parseDocument(readText(path), options);
  } catch (error) {
    if (isMissing(error)) return initial;
    const message = messageOf(error);
    if (!(error instanceof SyntaxError)) {
      onDamage({ path, message });
      return initial;
    }
    const keptAs = freeDamagedName(path);
    renameSync(path, keptAs);
    onDamage({ path, message, keptAs });
    return initial;
  }
};

/** What another process has written since, if it can be used: the app and `serve` may share a data folder. */
const reread = <T extends object>(options: JsonDocumentOptions<T>, known: T): T => {
  try {
    return parseDocument(readText(options.path), options);
  } catch {
    return known; // missing or damaged: the known value is written again, and a failing disk shows there
  }
};

/** Reads the file immediately (it is needed before the first window); a damaged one is set aside, not lost. */
export const openJsonDocument = <T extends object>(options: JsonDocumentOptions<T>): JsonDocument<T> => {
  let value = load(options);
  let lastChange: Promise<unknown> = Promise.resolve();

  const apply = async (next: (value: T) => T): Promise<T> => {
    const changed = next(reread(options, value));
    try {
      mkdirSync(dirname(options.path), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
      await writeFileAtomically(options.path, `${JSON.stringify(changed, undefined, 2)}\n`);
    } catch (error) {
      throw new SaidError(
        'Unavailable',
        say('failure.cannotWrite', { path: options.path, why: saidOf(error) }),
        {
          cause: error,
        },
      );
    }
    value = changed;
    return changed;
  };

  return {
    get value() {
      return value;
    },
    change(next) {
      const result = lastChange.then(() => apply(next));
      lastChange = result.catch(() => undefined);
      return result;
    },
  };
};
