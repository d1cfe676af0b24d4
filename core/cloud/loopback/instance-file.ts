import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf, ReasonError } from '../../base/errors.ts';
import { writeFileAtomically } from '../../base/node/atomic-file.ts';
import { isJsonObject } from '../../api/meta/index.ts';

export const INSTANCE_FILE = 'instances.json';

export const INSTANCE_STATES = ['running', 'stopped', 'deleted'] as const;
export type InstanceState = (typeof INSTANCE_STATES)[number];

/** What was said about one instance; what is not said is as the cloud has it on its own. */
export interface InstanceRecord {
  readonly state?: InstanceState;
  readonly zone?: string;
  readonly type?: string;
  readonly externalIP?: string;
}

export type InstanceRecords = ReadonlyMap<string, InstanceRecord>;

const bad = (path: string, why: string, cause?: unknown): ReasonError =>
  new ReasonError('BadInstances', `${path}: ${why}`, { cause });

const recordOf = (path: string, name: string, value: unknown): InstanceRecord => {
  if (!isJsonObject(value)) throw bad(path, `instance ${name} is no object`);
  const { state, ...texts } = value;
  if (state !== undefined && !INSTANCE_STATES.some((known) => known === state))
    throw bad(path, `instance ${name}: state is one of ${INSTANCE_STATES.join(', ')}`);
  for (const [field, text] of Object.entries(texts))
    if (typeof text !== 'string') throw bad(path, `instance ${name}: ${field} is no text`);
  return value as InstanceRecord;
};

/**
 * `{"instances": {"worker-1": {"state": "deleted"}}}`. No file is no record. A file that cannot be read is an error and
 * not "nothing is there": nodes are deleted for what this says.
 */
export const readInstances = async (folder: string): Promise<InstanceRecords> => {
  if (folder === '') return new Map();
  const path = join(folder, INSTANCE_FILE);
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw bad(path, messageOf(cause), cause);
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    throw bad(path, messageOf(cause), cause);
  }
  const instances = isJsonObject(document) ? document['instances'] : undefined;
  if (!isJsonObject(instances)) throw bad(path, 'wants {"instances": {...}}');
  return new Map(Object.entries(instances).map(([name, value]) => [name, recordOf(path, name, value)]));
};

/** Says what became of an instance: how a deletion is rehearsed. One writer at a time. */
export const markInstance = async (folder: string, name: string, record: InstanceRecord): Promise<void> => {
  await mkdir(folder, { recursive: true });
  const records = new Map(await readInstances(folder)).set(name, record);
  const document = { instances: Object.fromEntries(records) };
  await writeFileAtomically(join(folder, INSTANCE_FILE), `${JSON.stringify(document, undefined, 2)}\n`);
};
