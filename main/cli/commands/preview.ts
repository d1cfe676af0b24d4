import type { ActionPreview, ClusterAction } from '../../../core/contract/schemas/local-cluster.ts';
import { ReasonError } from '../../../core/base/errors.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import type { CommandContext } from '../command.ts';

type Effect = ActionPreview['effects'][number];

const SENTENCES: Readonly<Record<Effect['code'], (effect: Effect) => string>> = {
  etcdLeaderMoves: ({ subject }) => `etcd elects another leader than ${subject}`,
  quorumLost: ({ count }) =>
    `etcd loses its quorum: ${count} members are left, and nobody can write (resources/guides/lost-quorum.md)`,
  noFailureTolerated: ({ count }) => `${count} members of etcd are left, and one more failure is an outage`,
  apiServersLeft: ({ count }) => `${count} API servers are left`,
  noApiServerLeft: () => 'no API server is left',
  leaseMoves: ({ subject }) => `${subject} is led by another replica`,
  podsMove: ({ subject, count }) => `${count} pods leave ${subject}`,
  nodeStopsAnswering: ({ subject }) => `node ${subject} stops answering`,
  memberAnswersNothing: ({ subject }) => `member ${subject} answers nothing`,
  writesPause: () => 'writes pause for a moment',
  everythingReplaced: ({ subject }) => `everything is replaced by what ${subject} holds`,
  componentRestarts: ({ subject }) => `${subject} restarts`,
  evenMembers: ({ count }) => `${count} members tolerate no more failures than ${count - 1}`,
};

/** Says what an action would do; one that takes the quorum or the last API server wants `--yes`. */
export const confirmAction = async (
  dataDirectory: string,
  action: ClusterAction,
  isAssured: boolean,
  context: CommandContext,
): Promise<void> => {
  const { effects } = await callControl(dataDirectory, 'action.preview', { action: JSON.stringify(action) });
  for (const effect of effects) context.note(SENTENCES[effect.code](effect));
  const isOutage = effects.some(({ code }) => code === 'quorumLost' || code === 'noApiServerLeft');
  if (isOutage && !isAssured)
    throw new ReasonError('NeedsYes', 'that would be an outage; with --yes it is done all the same');
};
