import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { saveSnapshot } from '../../../core/cluster/etcd-operator/operations.ts';
import { backupsFolder } from '../../../core/cluster/index.ts';
import { BUMP_REVISION_DEFAULT, verifySnapshot } from '../../../core/etcd/snapshot/index.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';
import { etcdOf, mebibytes } from './etcd-target.ts';

const USAGE = `  pilothouse snapshot save [FILE] [--data DIR] [-o json]
  pilothouse snapshot status FILE [-o json]
  pilothouse snapshot restore FILE [--data DIR] [-o json]

  save streams a snapshot of etcd into FILE (default: the folder backups/) and checks it. restore puts one back into
  all members of the running cluster; the state of before is kept beside it. Files are etcd's own format.`;

const nameOfNow = (): string => `etcd-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}.db`;

const save = async (
  file: string | undefined,
  args: readonly string[],
  context: CommandContext,
): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  const path =
    file === undefined ? join(backupsFolder(dataDirectory), nameOfNow()) : resolve(context.cwd, file);
  if (existsSync(path))
    throw new ReasonError('AlreadyExists', `${path} is there already; choose another name`);
  const access = await etcdOf(dataDirectory);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const saved = await saveSnapshot(access, path);
  context.print(
    json
      ? JSON.stringify(saved)
      : `saved ${saved.file}  ${saved.totalKey} keys at revision ${saved.revision}, ${mebibytes(saved.totalSize)}`,
  );
};

const check = async (file: string, args: readonly string[], context: CommandContext): Promise<void> => {
  const { json } = parseOptions({}, args, context);
  const path = resolve(context.cwd, file);
  const found = await verifySnapshot(path, { skipHashCheck: false }).catch((cause: unknown) => {
    throw new ReasonError('Damaged', `${path}: ${messageOf(cause)}`, { cause });
  });
  context.print(
    json
      ? JSON.stringify(found)
      : `hash ${found.hash.toString(16)}  revision ${found.revision}  ${found.totalKey} keys  ${mebibytes(found.totalSize)}`,
  );
};

const restore = async (file: string, args: readonly string[], context: CommandContext): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  const params = { file: resolve(context.cwd, file), bumpRevision: BUMP_REVISION_DEFAULT };
  const outcome = await callControl(dataDirectory, 'snapshot.restore', params, (line) => context.note(line));
  context.print(
    json
      ? JSON.stringify(outcome)
      : `restored ${outcome.entries} rows into ${outcome.members} members from ${outcome.file}`,
  );
};

export const snapshot: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb, file, ...more] = words;
    if (more.length > 0) throw usageError('snapshot takes one file');
    if (verb === 'save') await save(file, rest, context);
    else if (verb === 'status' && file !== undefined) await check(file, rest, context);
    else if (verb === 'restore' && file !== undefined) await restore(file, rest, context);
    else throw usageError('snapshot takes save [FILE], status FILE or restore FILE');
    return EXIT_OK;
  },
};
