import type { ActionPreview, ClusterAction } from '../../core/contract/index.ts';
import { t } from '../locales/i18n.ts';

export interface Consequence {
  readonly tone: 'ok' | 'warn' | 'idle' | 'error';
  readonly text: string;
}

type Quorum = NonNullable<ActionPreview['quorum']>;
type Effect = ActionPreview['effects'][number];

/** What is left to vote, in figures: the sentence an operator looks for first. */
export const quorumConsequence = (quorum: Quorum): Consequence => {
  const { healthyNow, needed: neededNow, healthyAfter: after, votersAfter: voters, neededAfter } = quorum;
  const figures = { after, voters, needed: neededAfter };
  if (after < neededAfter) return { tone: 'error', text: t('effect.quorum.lost', figures) };
  if (healthyNow < neededNow) return { tone: 'ok', text: t('effect.quorum.back', figures) };
  const spare = after - neededAfter;
  if (spare > 0) return { tone: 'ok', text: t('effect.quorum.spare', { ...figures, count: spare }) };
  // A single member never tolerates a failure: nothing got worse by that.
  if (voters === 1) return { tone: 'ok', text: t('effect.quorum.holds', figures) };
  return { tone: 'warn', text: t('effect.quorum.last', figures) };
};

const effectConsequence = (
  { code, subject, count }: Effect,
  action: ClusterAction,
): Consequence | undefined => {
  switch (code) {
    // Both are said, with figures, by the sentence about the quorum.
    case 'quorumLost':
    case 'noFailureTolerated':
      return undefined;
    case 'etcdLeaderMoves':
      return {
        tone: 'warn',
        text:
          action.kind === 'member.moveLeader'
            ? t('effect.etcdLeaderMoves.to', { subject })
            : t('effect.etcdLeaderMoves', { subject }),
      };
    case 'apiServersLeft':
      return { tone: count > 1 ? 'ok' : 'warn', text: t('effect.apiServersLeft', { count }) };
    case 'noApiServerLeft':
      return { tone: 'error', text: t('effect.noApiServerLeft') };
    case 'leaseMoves':
      return { tone: 'warn', text: t('effect.leaseMoves', { subject }) };
    case 'podsMove':
      return {
        tone: count === 0 ? 'idle' : 'warn',
        text:
          subject === '' ? t('effect.podsMove', { count }) : t('effect.podsMove.from', { subject, count }),
      };
    case 'nodeStopsAnswering':
      return { tone: 'warn', text: t('effect.nodeStopsAnswering', { subject }) };
    case 'memberAnswersNothing':
      // Of a host that goes, the sentence about the quorum says it already.
      return action.kind === 'etcd.defragment'
        ? { tone: 'warn', text: t('effect.memberAnswersNothing', { subject }) }
        : undefined;
    case 'writesPause':
      // A change of the leader says how long.
      return action.kind === 'snapshot.restore' ? { tone: 'warn', text: t('effect.writesPause') } : undefined;
    case 'everythingReplaced':
      return { tone: 'error', text: t('effect.everythingReplaced') };
    case 'componentRestarts':
      return {
        tone: 'idle',
        text:
          action.kind === 'component.kill'
            ? t('effect.componentRestarts', { subject })
            : t('effect.hostRestarts', { subject }),
      };
    case 'evenMembers':
      return { tone: 'warn', text: t('effect.evenMembers', { count }) };
  }
};

const RANK = { error: 0, warn: 1, ok: 2, idle: 3 } as const;

/** More nodes than this are counted, not listed: all workers may be one host. */
const NODES_NAMED_MAX = 2;

const nodesTogether = (effects: readonly Effect[]): readonly Consequence[] => {
  const count = effects.filter(({ code }) => code === 'nodeStopsAnswering').length;
  return count > NODES_NAMED_MAX ? [{ tone: 'warn', text: t('effect.nodesStopAnswering', { count }) }] : [];
};

const leasesTogether = (effects: readonly Effect[]): readonly Consequence[] => {
  const names = effects.filter(({ code }) => code === 'leaseMoves').map(({ subject }) => `\`${subject}\``);
  return names.length > 1
    ? [{ tone: 'warn', text: t('effect.leasesMove', { count: names.length, names: names.join(', ') }) }]
    : [];
};

/** Without quorum no one is elected, no lease changes hands and no pod is moved. */
const NEEDS_QUORUM: readonly Effect['code'][] = [
  'etcdLeaderMoves',
  'leaseMoves',
  'podsMove',
  'nodeStopsAnswering',
];

/** The sentences of a preview: quorum first, then the worst. Never empty. */
export const consequencesOf = (preview: ActionPreview, action: ClusterAction): readonly Consequence[] => {
  const { quorum } = preview;
  const isLost = quorum !== null && quorum.healthyAfter < quorum.neededAfter;
  const effects = preview.effects.filter(({ code }) => !isLost || !NEEDS_QUORUM.includes(code));
  const nodes = nodesTogether(effects);
  const leases = leasesTogether(effects);
  const said = effects
    .filter(({ code }) => nodes.length === 0 || code !== 'nodeStopsAnswering')
    .filter(({ code }) => leases.length === 0 || code !== 'leaseMoves')
    .map((effect) => effectConsequence(effect, action))
    .filter((item) => item !== undefined);
  const all = [
    // A drain moves pods; anyone who votes stays where it is.
    ...(quorum && action.kind !== 'node.drain' ? [quorumConsequence(quorum)] : []),
    ...[...nodes, ...leases, ...said].sort((a, b) => RANK[a.tone] - RANK[b.tone]),
  ];
  const unique = all.filter((item, index) => all.findIndex(({ text }) => text === item.text) === index);
  return unique.length > 0 ? unique : [{ tone: 'ok', text: t('effect.none') }];
};
