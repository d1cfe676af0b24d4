import { existsSync, mkdirSync } from 'node:fs';
import { inEnglish } from '../../../core/contract/index.ts';
import { dirname, join, resolve } from 'node:path';
import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import { saveSnapshot } from '../../../core/cluster/etcd-operator/operations.ts';
import { backupsFolder } from '../../../core/cluster/data-folder/layout.ts';
import { listSnapshots } from '../../../core/cluster/backup/list-backups.ts';
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
import { CONTENTS_VERBS, runContents } from './snapshot-contents.ts';

const USAGE = `  pilothouse snapshot save [FILE] [--data DIR] [-o json]
  pilothouse snapshot status FILE [-o json]
  pilothouse snapshot restore FILE [--data DIR] [-o json]
  pilothouse snapshot compare FILE [--data DIR] [-o json]
  pilothouse snapshot list [--data DIR] [-o json]
  pilothouse snapshot schedule [--every-minutes N] [--keep N] [--directory DIR] [--off]
                               [--data DIR] [-o json]
  pilothouse snapshot browse FILE [RESOURCE] [-n NAMESPACE] [--encryption-provider-config FILE]
                             [--data DIR] [-o json]
  pilothouse snapshot show FILE RESOURCE NAME [-n NAMESPACE] [--encryption-provider-config FILE]
                           [--data DIR] [-o json]
  pilothouse snapshot diff FILE [RESOURCE [NAME]] [-n NAMESPACE] [--encryption-provider-config FILE]
                           [--data DIR] [-o json]
  pilothouse snapshot restore-object FILE [RESOURCE NAME] [-n NAMESPACE] [--whole-namespace] [--all]
                                     [--dry-run] [--kubeconfig FILE] [--context NAME]
                                     [--encryption-provider-config FILE] [--data DIR] [-o json]

  save writes an etcd snapshot to FILE (default: a new file in backups/) and verifies it. restore restores a snapshot
  on all members of the running cluster and keeps the previous data. compare shows which objects a restore would
  recreate and delete. schedule makes the running cluster save snapshots to --directory (default: backups/)
  periodically and keep the latest; choose another disk.
  Snapshot files are in etcd's format.

  browse lists the objects of a snapshot, also of one that a real etcd saved; show prints one as YAML; diff compares the
  snapshot with the running cluster. restore-object creates or replaces one object, a namespace with --whole-namespace, or
  everything with --all, through the API server; --dry-run only shows what would change. Encrypted values are decrypted
  with the keys of the cluster in --data, or with those of --encryption-provider-config.`;

const nameOfNow = (): string => `etcd-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '')}.db`;

const save = async (
  file: string | undefined,
  args: readonly string[],
  context: CommandContext,
): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  const path =
    file === undefined ? join(backupsFolder(dataDirectory), nameOfNow()) : resolve(context.cwd, file);
  if (existsSync(path)) throw new ReasonError('AlreadyExists', `${path} already exists; choose another name`);
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
      : `restored ${outcome.entries} keys on ${outcome.members} members from ${outcome.file}`,
  );
};

const compare = async (file: string, args: readonly string[], context: CommandContext): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  const found = await callControl(dataDirectory, 'snapshot.compare', { file: resolve(context.cwd, file) });
  if (json) return context.print(JSON.stringify(found));
  context.print(`snapshot revision ${found.file.revision}, current revision ${found.revisionNow}`);
  for (const { resource, now, inSnapshot, comesBack, goes } of found.rows) {
    if (comesBack.length === 0 && goes.length === 0) continue;
    context.print(`${resource.padEnd(40)} ${now} now, ${inSnapshot} in the snapshot`);
    for (const name of comesBack) context.print(`  + ${name}`);
    for (const name of goes) context.print(`  - ${name}`);
  }
};

const list = async (args: readonly string[], context: CommandContext): Promise<void> => {
  const { dataDirectory, json } = parseOptions({}, args, context);
  const files = await listSnapshots(dataDirectory);
  const inWords = files.map(({ problem, ...file }) => ({
    ...file,
    problem: problem === null ? '' : inEnglish(problem),
  }));
  if (json) return context.print(JSON.stringify(inWords));
  for (const { file, createdAtMs, bytes, keys, revision, problem } of inWords)
    context.print(
      `${new Date(createdAtMs).toISOString().replace(/\.\d+/, '')}  ${problem === '' ? `${keys} keys at revision ${revision}, ${mebibytes(bytes)}` : `damaged: ${problem}`}  ${file}`,
    );
};

const SCHEDULE_OPTIONS = {
  'every-minutes': { type: 'string' },
  keep: { type: 'string' },
  directory: { type: 'string' },
  off: { type: 'boolean' },
} as const;

const wholeNumber = (name: string, text: string | undefined, otherwise: number): number => {
  if (text === undefined) return otherwise;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw usageError(`--${name} must be a number, not "${text}"`);
  return Number(text);
};

const schedule = async (args: readonly string[], context: CommandContext): Promise<void> => {
  const { values, dataDirectory, json } = parseOptions(SCHEDULE_OPTIONS, args, context);
  const wishes = values as { 'every-minutes'?: string; keep?: string; directory?: string; off?: boolean };
  let found = await callControl(dataDirectory, 'backup.get', {});
  const directory =
    wishes.directory === undefined ? found.schedule.directory : resolve(context.cwd, wishes.directory);
  if (Object.keys(SCHEDULE_OPTIONS).some((name) => Object.hasOwn(wishes, name)))
    found = await callControl(dataDirectory, 'backup.set', {
      ...(directory !== undefined && { directory }),
      enabled: wishes.off !== true,
      everyMinutes: wholeNumber('every-minutes', wishes['every-minutes'], found.schedule.everyMinutes),
      keep: wholeNumber('keep', wishes.keep, found.schedule.keep),
    });
  if (json) return context.print(JSON.stringify(found));
  const { enabled, everyMinutes, keep, directory: folder } = found.schedule;
  context.print(
    enabled
      ? `every ${everyMinutes} minutes, keeping ${keep}${folder === undefined ? '' : ` in ${folder}`}; next at ${new Date(found.nextAtMs ?? 0).toISOString()}`
      : 'no snapshot schedule',
  );
};

export const snapshot: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb, file, ...more] = words;
    const contents = CONTENTS_VERBS.find((known) => known === verb);
    if (contents) return runContents(contents, words.slice(1), rest, context);
    if (more.length > 0) throw usageError('snapshot accepts one file');
    if (verb === 'save') await save(file, rest, context);
    else if (verb === 'status' && file !== undefined) await check(file, rest, context);
    else if (verb === 'restore' && file !== undefined) await restore(file, rest, context);
    else if (verb === 'compare' && file !== undefined) await compare(file, rest, context);
    else if (verb === 'list' && file === undefined) await list(rest, context);
    else if (verb === 'schedule' && file === undefined) await schedule(rest, context);
    else
      throw usageError(
        'snapshot requires save [FILE], status FILE, restore FILE, compare FILE, list, schedule, browse FILE, show FILE, diff FILE or restore-object FILE',
      );
    return EXIT_OK;
  },
};
