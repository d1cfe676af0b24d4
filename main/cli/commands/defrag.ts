import {
  defragmentMember,
  defragmentOrder,
  labelOf,
} from '../../../core/cluster/etcd-operator/operations.ts';
import { EXIT_OK, parseOptions, type Command } from '../command.ts';
import { etcdOf, mebibytes } from './etcd-target.ts';

export const defrag: Command = {
  usage: `  pilothouse defrag [--data DIR] [-o json]

  Defragments the etcd members one by one, the leader last. A member is unavailable during its defragmentation.`,
  async run(args, context) {
    const { dataDirectory, json } = parseOptions({}, args, context);
    const done: { name: string; before: number; after: number }[] = [];
    const access = await etcdOf(dataDirectory);
    for (const member of await defragmentOrder(access, null)) {
      const after = await defragmentMember(access, member);
      const name = labelOf(member);
      const facts = { name, before: member.status?.dbBytes ?? 0, after: after.status?.dbBytes ?? 0 };
      done.push(facts);
      if (!json) context.print(`${name.padEnd(10)} ${mebibytes(facts.before)} -> ${mebibytes(facts.after)}`);
    }
    if (json) context.print(JSON.stringify(done));
    return EXIT_OK;
  },
};
