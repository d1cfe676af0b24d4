import type { ClusterAction } from '../../../core/contract/actions/actions.ts';
import type { ActionPreview } from '../../../core/contract/schemas/local-cluster.ts';
import { ReasonError } from '../../../core/base/errors.ts';
import { callControl } from '../../../core/cluster/control/client.ts';
import type { CommandContext } from '../command.ts';

type Effect = ActionPreview['effects'][number];

const SENTENCES: Readonly<Record<Effect['code'], (effect: Effect) => string>> = {
  etcdLeaderMoves: ({ subject }) => `${subject} is the etcd leader; a new leader is elected`,
  quorumLost: ({ count }) =>
    `etcd loses quorum: ${count} members remain, and writes fail (see docs/lost-quorum.md)`,
  noFailureTolerated: ({ count }) => `${count} etcd members remain; one more failure causes an outage`,
  apiServersLeft: ({ count }) => `${count} API servers remain`,
  noApiServerLeft: () => 'no API server remains',
  leaseMoves: ({ subject }) => `another replica of ${subject} becomes leader`,
  podsMove: ({ subject, count }) => `${count} pods are evicted from ${subject}`,
  nodeStopsAnswering: ({ subject }) => `node ${subject} becomes NotReady`,
  memberAnswersNothing: ({ subject }) => `member ${subject} is unavailable`,
  writesPause: () => 'writes pause briefly',
  everythingReplaced: ({ subject }) => `all objects are replaced with the contents of ${subject}`,
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
    throw new ReasonError('NeedsYes', 'this action causes an outage; use --yes to proceed');
};
