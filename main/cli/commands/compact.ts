import { compact as compactEtcd } from '../../../core/cluster/etcd-operator/operations.ts';
import { EXIT_OK, leadingWords, parseOptions, usageError, type Command } from '../command.ts';
import { etcdOf } from './etcd-target.ts';

export const compact: Command = {
  usage: `  pilothouse compact [REVISION] [--data DIR] [-o json]

  Forgets what was before the revision, or before the present one. API servers compact every five minutes themselves;
  watchers of an older revision list again.`,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [text, ...more] = words;
    const { dataDirectory, json } = parseOptions({}, rest, context);
    if (more.length > 0 || (text !== undefined && !/^\d{1,15}$/.test(text)))
      throw usageError('compact takes one revision, which is a number');
    const revision = await compactEtcd(
      await etcdOf(dataDirectory),
      text === undefined ? undefined : Number(text),
    );
    context.print(json ? JSON.stringify({ revision }) : `compacted to revision ${revision}`);
    return EXIT_OK;
  },
};
