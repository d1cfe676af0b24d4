import {
  compareHashes,
  readAuth,
  readLocks,
  type HashComparison,
  type KeyPermission,
} from '../../../core/cluster/etcd-operator/inspect.ts';
import { inEnglish } from '../../../core/contract/index.ts';
import { jsonOf } from '../json.ts';
import {
  EXIT_FAILURE,
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';
import { etcdOf } from './etcd-target.ts';

const USAGE = `  pilothouse etcd hash [--data DIR] [-o json]
  pilothouse etcd locks [--data DIR] [-o json]
  pilothouse etcd auth [--data DIR] [-o json]

  hash compares the keys of all members at one revision; it exits with 1 unless they are equal. locks lists locks and
  elections, with holders and those who wait. auth lists the users and roles of etcd's own auth.`;

const HASH_HEX_DIGITS = 8;

/** -1 in etcd's answer: nothing has been compacted. */
const compactedText = (revision = -1): string =>
  revision < 0 ? 'not compacted' : `compacted at ${revision}`;

const printHashes = ({ revision, members, verdict }: HashComparison, context: CommandContext): void => {
  for (const { name, id, hash, compactRevision, problem } of members) {
    const facts =
      hash === undefined
        ? problem
          ? inEnglish(problem)
          : ''
        : `hash ${hash.toString(16).padStart(HASH_HEX_DIGITS, '0')}  ${compactedText(compactRevision)}`;
    context.print(`${(name || id).padEnd(10)} ${facts}`.trimEnd());
  }
  const sentences = {
    equal: `all members have the same keys at revision ${revision}`,
    different: `members have different keys at revision ${revision}: remove the members that differ and add them again`,
    unverified: `not every member could be compared at revision ${revision}; run it again when all are up`,
  };
  context.print(sentences[verdict]);
};

const rangeText = ({ key, rangeEnd }: KeyPermission): string => {
  if (rangeEnd === '') return key;
  return rangeEnd === '\0' ? `${key} and every later key` : `[${key}, ${rangeEnd})`;
};

const printAuth = async (dataDirectory: string, json: boolean, context: CommandContext): Promise<void> => {
  const auth = await readAuth(await etcdOf(dataDirectory));
  if (json) return context.print(JSON.stringify(auth));
  context.print(`auth is ${auth.isEnabled ? 'enabled' : 'disabled'}, revision ${auth.revision}`);
  for (const { name, roles } of auth.users) context.print(`user ${name}  roles ${roles.join(', ') || '-'}`);
  for (const { name, permissions } of auth.roles) {
    context.print(`role ${name}`);
    for (const permission of permissions) context.print(`  ${permission.type} ${rangeText(permission)}`);
  }
};

const printLocks = async (dataDirectory: string, json: boolean, context: CommandContext): Promise<void> => {
  const lines = await readLocks(await etcdOf(dataDirectory));
  if (json) return context.print(JSON.stringify(lines));
  if (lines.length === 0) context.print('no locks and no elections');
  for (const { name, kind, claims } of lines) {
    context.print(`${kind} ${name}`);
    claims.forEach(({ lease, ttlSeconds, value }, place) => {
      const role = place > 0 ? 'waits' : kind === 'lock' ? 'holds' : 'leads';
      context.print(`  ${role}  lease ${lease}  TTL ${ttlSeconds}s  ${value}`.trimEnd());
    });
  }
};

export const etcd: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', ...more] = words;
    const { dataDirectory, json } = parseOptions({}, rest, context);
    if (more.length > 0) throw usageError(`etcd ${verb} accepts no further argument`);
    switch (verb) {
      case 'hash': {
        const comparison = await compareHashes(await etcdOf(dataDirectory));
        if (json) context.print(jsonOf(comparison));
        else printHashes(comparison, context);
        return comparison.verdict === 'equal' ? EXIT_OK : EXIT_FAILURE;
      }
      case 'locks':
        await printLocks(dataDirectory, json, context);
        return EXIT_OK;
      case 'auth':
        await printAuth(dataDirectory, json, context);
        return EXIT_OK;
      default:
        throw usageError('etcd requires hash, locks or auth');
    }
  },
};
