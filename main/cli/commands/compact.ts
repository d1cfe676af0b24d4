import { compact as compactEtcd } from '../../../core/cluster/etcd-operator/operations.ts';
import { EXIT_OK, leadingWords, parseOptions, usageError, type Command } from '../command.ts';
import { etcdOf } from './etcd-target.ts';

export const compact: Command = {
  usage: `  pilothouse compact [REVISION] [--data DIR] [-o json]

  Compacts etcd history up to REVISION (default: the current revision). API servers compact automatically every five
  minutes. Watchers at an older revision relist.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [text, ...more] = words;
    const { dataDirectory, json } = parseOptions({}, rest, context);
    if (more.length > 0 || (text !== undefined && !/^\d{1,15}$/.test(text)))
      throw usageError('compact accepts one revision, which must be a number');
    const revision = await compactEtcd(
      await etcdOf(dataDirectory),
      text === undefined ? undefined : Number(text),
    );
    context.print(json ? JSON.stringify({ revision }) : `compacted to revision ${revision}`);
    return EXIT_OK;
  },
};
