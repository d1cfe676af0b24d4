import { existsSync } from 'node:fs';
import { messageOf, ReasonError } from '../../../core/base/errors.ts';
import { boolean, flag, integer, list, oneOf, parseFlags, text } from '../../../core/base/flags.ts';
import { defragmentOffline, hashKvOfSnapshot } from '../../../core/etcd/server/offline.ts';
import { restoreMember } from '../../../core/etcd/server/restore.ts';
import { verifySnapshot } from '../../../core/etcd/snapshot/index.ts';
import { EXIT_OK, usageError, type CommandContext } from '../command.ts';

const OUTPUT_FLAGS = {
  'write-out': flag(oneOf('simple', 'json'), 'simple', 'output format'),
  w: flag(oneOf('simple', 'json'), 'simple', 'short for --write-out'),
} as const;

const STATUS_FLAGS = {
  ...OUTPUT_FLAGS,
  'skip-hash-check': flag(
    boolean,
    false,
    'skip the integrity hash, for a database copied from a data directory',
  ),
} as const;

const RESTORE_FLAGS = {
  name: flag(text, 'default', 'name of this member'),
  'data-dir': flag(text, '', 'path of the new data directory (default <name>.etcd)'),
  'initial-cluster': flag(text, '', 'name=peerURL,... of every member (default: only this member)'),
  'initial-cluster-token': flag(text, 'etcd-cluster', 'initial cluster token'),
  'initial-advertise-peer-urls': flag(
    list,
    ['http://localhost:2380'],
    'peer URLs to advertise to the rest of the cluster',
  ),
  'skip-hash-check': flag(
    boolean,
    false,
    'skip the integrity hash, for a database copied from a data directory',
  ),
  'wal-dir': flag(text, '', 'where the member will keep its log (--wal-dir of etcd); must not exist'),
  'bump-revision': flag(integer({ min: 0 }), 0, 'how much to increase the latest revision after restore'),
  'mark-compacted': flag(
    boolean,
    false,
    'mark the latest revision after restore as compacted (required if --bump-revision > 0, disallowed otherwise)',
  ),
} as const;

const MIB = 1024 * 1024;
const DAMAGES = ['NotADatabase', 'Truncated', 'Malformed', 'HashMissing', 'HashMismatch'];

/** What is wrong inside of a file is found by code that does not know its name. */
const naming = async <T>(path: string, run: () => Promise<T>): Promise<T> => {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ReasonError) || !DAMAGES.includes(error.reason)) throw error;
    throw new ReasonError(error.reason, `${path}: ${messageOf(error)}`, { cause: error });
  }
};

const status = async (args: readonly string[], context: CommandContext): Promise<number> => {
  const { values, positional } = parseFlags(STATUS_FLAGS, args);
  const [path] = positional;
  if (path === undefined) throw usageError('snapshot status requires a file');
  const found = await naming(path, () => verifySnapshot(path, { skipHashCheck: values['skip-hash-check'] }));
  const isJson = values['write-out'] === 'json' || values.w === 'json';
  if (isJson) context.print(JSON.stringify(found));
  else
    context.print(
      `${found.hash.toString(16)}, ${found.revision}, ${found.totalKey}, ${(found.totalSize / MIB).toFixed(1)} MiB`,
    );
  return EXIT_OK;
};

const restore = async (args: readonly string[], context: CommandContext): Promise<number> => {
  const { values, positional } = parseFlags(RESTORE_FLAGS, args);
  const [path] = positional;
  if (path === undefined) throw usageError('snapshot restore requires a file');
  const { name } = values;
  const bumpRevision = values['bump-revision'];
  if (values['mark-compacted'] !== bumpRevision > 0)
    throw usageError('--mark-compacted required if --bump-revision > 0, and not allowed otherwise');
  const advertisePeerUrls = values['initial-advertise-peer-urls'];
  const dataDirectory = values['data-dir'] || `${name}.etcd`;
  // The log itself begins with the first start of the member; one of another life must not be there then.
  if (values['wal-dir'] !== '' && existsSync(values['wal-dir']))
    throw new ReasonError(
      'DirectoryExists',
      `wal-dir "${values['wal-dir']}" exists; move it away or choose another folder`,
    );
  const { entries } = await naming(path, () =>
    restoreMember({
      name,
      advertisePeerUrls,
      initialCluster: values['initial-cluster'] || advertisePeerUrls.map((url) => `${name}=${url}`).join(','),
      initialClusterToken: values['initial-cluster-token'],
      snapshotPath: path,
      dataDirectory,
      skipHashCheck: values['skip-hash-check'],
      bumpRevision,
    }),
  );
  context.print(`restored ${entries} keys to ${dataDirectory}`);
  return EXIT_OK;
};

const HASHKV_FLAGS = {
  ...OUTPUT_FLAGS,
  rev: flag(integer({ min: 0 }), 0, 'maximum revision to hash (default: latest revision)'),
} as const;

const hashkv = async (args: readonly string[], context: CommandContext): Promise<number> => {
  const { values, positional } = parseFlags(HASHKV_FLAGS, args);
  const [path] = positional;
  if (path === undefined) throw usageError('hashkv requires a file');
  const found = await naming(path, () => hashKvOfSnapshot(path, values.rev));
  const isJson = values['write-out'] === 'json' || values.w === 'json';
  context.print(
    isJson ? JSON.stringify(found) : `${found.hash}, ${found.hashRevision}, ${found.compactRevision}`,
  );
  return EXIT_OK;
};

const DEFRAG_FLAGS = {
  'data-dir': flag(text, '', 'data directory of a member that does not run (required)'),
} as const;

const defrag = async (args: readonly string[], context: CommandContext): Promise<number> => {
  const { values } = parseFlags(DEFRAG_FLAGS, args);
  const dataDirectory = values['data-dir'];
  if (dataDirectory === '') throw usageError('defrag requires --data-dir');
  const { beforeBytes, afterBytes } = await defragmentOffline(dataDirectory);
  const [before, after] = [beforeBytes, afterBytes].map((bytes) => (bytes / MIB).toFixed(1));
  context.print(`defragmented ${dataDirectory}: ${before} MiB to ${after} MiB`);
  return EXIT_OK;
};

/** etcd's offline tool for snapshot files and data directories, with its words and flags. */
export const runEtcdutl = async (args: readonly string[], context: CommandContext): Promise<number> => {
  const [noun, verb, ...rest] = args;
  if (noun === 'snapshot' && verb === 'status') return status(rest, context);
  if (noun === 'snapshot' && verb === 'restore') return restore(rest, context);
  if (noun === 'hashkv') return hashkv(args.slice(1), context);
  if (noun === 'defrag') return defrag(args.slice(1), context);
  throw usageError(
    'etcdutl supports snapshot status FILE, snapshot restore FILE, hashkv FILE and defrag --data-dir DIR',
  );
};
