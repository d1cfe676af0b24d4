import { callControl } from '../../../core/cluster/control/client.ts';
import { inEnglish } from '../../../core/contract/index.ts';
import { jsonOf } from '../json.ts';
import {
  addMember,
  findMember,
  listMembers,
  moveLeader,
  removeMember,
  type MemberView,
} from '../../../core/cluster/etcd-operator/operations.ts';
import {
  EXIT_OK,
  leadingWords,
  parseOptions,
  usageError,
  type Command,
  type CommandContext,
} from '../command.ts';
import { etcdOf, mebibytes } from './etcd-target.ts';

const USAGE = `  pilothouse member list [--data DIR] [-o json]
  pilothouse member add [--data DIR] [-o json]
  pilothouse member add PEER-URL[,PEER-URL] [--learner] [--data DIR] [-o json]
  pilothouse member remove NAME|ID [--data DIR] [-o json]
  pilothouse member move-leader NAME|ID [--data DIR] [-o json]

  add creates a new host in the running cluster with certificates, manifests and an etcd learner that is promoted once
  it has caught up; in the stacked topology also an API server behind the load balancer. With a PEER-URL it only
  registers a member that runs elsewhere. remove removes a member from etcd, stops its host and deletes its keys and
  data. It is rejected if the remaining members would not have quorum.`;

const printMember = (member: MemberView, context: CommandContext): void => {
  const { id, name, isLeader, isLearner, clientUrls, status, problem } = member;
  const role = isLeader ? 'leader' : isLearner ? 'learner' : 'follower';
  const facts = status
    ? `term ${status.raftTerm}  index ${status.raftIndex}  revision ${status.revision}  ${mebibytes(status.dbBytes)}`
    : problem
      ? inEnglish(problem)
      : '';
  context.print(
    `${(name || '(not started)').padEnd(10)} ${id.padEnd(16)} ${role.padEnd(8)} ${(clientUrls[0] ?? '').padEnd(26)} ${facts}`.trimEnd(),
  );
};

const run = async (
  verb: string,
  target: string | undefined,
  rest: readonly string[],
  context: CommandContext,
): Promise<void> => {
  const { values, dataDirectory, json } = parseOptions({ learner: { type: 'boolean' } }, rest, context);
  const isLearner = (values as { learner?: boolean }).learner === true;
  const say = (facts: object, line: string): void => context.print(json ? JSON.stringify(facts) : line);
  const isKnown = verb === 'add' || (verb === 'list' ? target === undefined : target !== undefined);
  if (!isKnown) throw usageError('member requires list, add [PEER-URL], remove NAME or move-leader NAME');
  const note = (line: string): void => context.note(line);
  if (verb === 'add' && target === undefined) {
    const outcome = await callControl(dataDirectory, 'member.add', {}, note);
    return say(outcome, `added ${outcome.host}; etcd has ${outcome.members} voting members`);
  }
  const access = await etcdOf(dataDirectory);
  switch (verb) {
    case 'list': {
      const members = await listMembers(access);
      if (json) context.print(jsonOf(members));
      else for (const member of members) printMember(member, context);
      return;
    }
    case 'add': {
      const peerUrls = target!.split(',');
      const id = await addMember(access, { peerUrls, isLearner });
      return say(
        { id, peerUrls, isLearner },
        `added ${id}${isLearner ? ' as a learner' : ''}; start it with --initial-cluster-state=existing`,
      );
    }
    case 'remove': {
      const { hosts } = await callControl(dataDirectory, 'status', {});
      const isHost = (name: string): boolean => hosts.some((host) => host.name === name);
      const found = isHost(target!) ? undefined : await findMember(access, target!);
      // A member of no one's is taken out of etcd alone.
      if (found && !isHost(found.name)) {
        await removeMember(access, found.id);
        return say({ name: found.name, id: found.id }, `removed ${found.name || found.id}`);
      }
      const member = found?.name ?? target!;
      const outcome = await callControl(dataDirectory, 'member.remove', { member }, note);
      return say(outcome, `removed ${outcome.host}; etcd has ${outcome.members} voting members`);
    }
    case 'move-leader': {
      const { name, id } = await moveLeader(access, target!);
      return say({ leader: name, id }, `${name || id} is the leader`);
    }
    default:
      throw usageError('member requires list, add [PEER-URL], remove NAME or move-leader NAME');
  }
};

export const member: Command = {
  usage: USAGE,
  async run(args, context) {
    const { words, rest } = leadingWords(args);
    const [verb = '', target, ...more] = words;
    if (more.length > 0) throw usageError(`member ${verb} accepts one name`);
    await run(verb, target, rest, context);
    return EXIT_OK;
  },
};
