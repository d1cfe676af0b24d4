import { decodeConfigChange } from '../../core/raft/configuration.ts';
import type { Configuration, LogEntry } from '../../core/raft/types.ts';
import type { Message } from '../../core/raft/messages.ts';
import type { Turn } from '../../core/raft/turn.ts';
import type { RaftStatus } from '../../core/raft/status.ts';

const SIGNS = { addVoter: '+', addLearner: '~', remove: '-' } as const;

/** `index/term content`; a change of members reads `+4 ~5 -2`, or `leave` at the end of a joint one. */
export const formatEntry = (entry: LogEntry): string => {
  const at = `${entry.index}/${entry.term}`;
  if (entry.kind === 'empty') return `${at} empty`;
  if (entry.kind === 'normal') return `${at} "${new TextDecoder().decode(entry.data)}"`;
  const { changes } = decodeConfigChange(entry.data);
  return `${at} config ${changes.map(({ kind, id }) => SIGNS[kind] + String(id)).join(' ') || 'leave'}`;
};

const ENTRIES_SHOWN_MAX = 4;

export const formatEntries = (entries: readonly LogEntry[]): string => {
  if (entries.length <= ENTRIES_SHOWN_MAX) return `[${entries.map(formatEntry).join(', ')}]`;
  return `[${formatEntry(entries[0]!)} ... ${formatEntry(entries.at(-1)!)}: ${entries.length} entries]`;
};

export const formatConfiguration = (configuration: Configuration): string => {
  const { voters, votersOutgoing, learners, learnersNext } = configuration;
  const part = (name: string, ids: readonly number[]): string =>
    ids.length > 0 ? ` ${name}=(${ids.join(' ')})` : '';
  return `voters=(${voters.join(' ')})${part('outgoing', votersOutgoing)}${part('learners', learners)}${part('learnersNext', learnersNext)}`;
};

export const formatMessage = (message: Message): string =>
  `${message.from}->${message.to} ${message.kind} term=${message.term}${detailsOf(message)}`;

const flag = (name: string, on: boolean): string => (on ? ` ${name}` : '');

const detailsOf = (message: Message): string => {
  switch (message.kind) {
    case 'append':
      return ` prev=${message.prevIndex}/${message.prevTerm} commit=${message.commit} ${formatEntries(message.entries)}`;
    case 'appendReply':
      return message.reject
        ? ` reject index=${message.index} hint=${message.hintIndex}/${message.hintTerm}`
        : ` index=${message.index}`;
    case 'heartbeat':
      return ` commit=${message.commit} round=${message.readRound}`;
    case 'commit':
      return ` commit=${message.commit}`;
    case 'heartbeatReply':
      return ` round=${message.readRound}`;
    case 'voteRequest':
      return `${flag('pre', message.pre)}${flag('transfer', message.transfer)} last=${message.lastIndex}/${message.lastTerm}`;
    case 'voteReply':
      return `${flag('pre', message.pre)} ${message.reject ? `reject commit=${message.commit}/${message.commitTerm}` : 'grant'}`;
    case 'snapshot':
      return ` mark=${message.mark.index}/${message.mark.term} ${formatConfiguration(message.mark.configuration)}`;
    case 'timeoutNow':
      return '';
    case 'propose':
      return ` ${message.proposals.length} proposals`;
    case 'readIndex':
      return ` contexts=(${message.contexts.join(' ')})`;
    case 'readIndexReply':
      return ` index=${message.index} contexts=(${message.contexts.join(' ')})`;
  }
};

export const formatPersist = (persist: NonNullable<Turn['persist']>): string => {
  const parts: string[] = [];
  const { snapshot, entries, hardState } = persist;
  if (snapshot) parts.push(`snapshot=${snapshot.index}/${snapshot.term}`);
  if (entries.length > 0) parts.push(formatEntries(entries));
  if (hardState) parts.push(`term=${hardState.term} vote=${hardState.vote} commit=${hardState.commit}`);
  return parts.join(' ');
};

export const formatRole = ({ role, term, leader }: Pick<Turn, 'role' | 'term' | 'leader'>): string =>
  `${role} at term ${term}, leader ${leader === 0 ? 'none' : leader}`;

export const formatStatus = (status: RaftStatus): string[] => [
  `${status.id}: ${formatRole(status)}, vote ${status.vote === 0 ? 'none' : status.vote}, log ${status.firstIndex}..${status.lastIndex}, commit ${status.commit}, applied ${status.applied}, ${formatConfiguration(status.configuration)}${status.transferee > 0 ? `, transferring to ${status.transferee}` : ''}`,
  ...status.peers.map(
    (peer) =>
      `   ${peer.id}: ${peer.state} match=${peer.match} next=${peer.next}${flag('learner', peer.learner)}${flag('paused', peer.paused)}${peer.pendingSnapshot > 0 ? ` snapshot=${peer.pendingSnapshot}` : ''}${flag('silent', !peer.recentActive)}${peer.inflightMessages > 0 ? ` inflight=${peer.inflightMessages}` : ''}`,
  ),
];
