import type { ActionPreview } from '../../core/contract/index.ts';
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

const effectConsequence = ({ code, subject, count }: Effect): Consequence | undefined => {
  switch (code) {
    // Both are said, with figures, by the sentence about the quorum.
    case 'quorumLost':
    case 'noFailureTolerated':
      return undefined;
    case 'etcdLeaderMoves':
      return {
        tone: 'warn',
        text: subject === '' ? t('effect.etcdLeaderMoves') : t('effect.etcdLeaderMoves.to', { subject }),
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
      return {
        tone: 'warn',
        text:
          count > 1 ? t('effect.nodesStopAnswering', { count }) : t('effect.nodeStopsAnswering', { subject }),
      };
    case 'memberAnswersNothing':
      return { tone: 'warn', text: t('effect.memberAnswersNothing', { subject }) };
    case 'writesPause':
      return { tone: 'warn', text: t('effect.writesPause') };
    case 'everythingReplaced':
      return { tone: 'error', text: t('effect.everythingReplaced') };
    case 'componentRestarts':
      return {
        tone: 'idle',
        text:
          count > 1 ? t('effect.componentsRestart', { count }) : t('effect.componentRestarts', { subject }),
      };
    case 'evenMembers':
      return { tone: 'warn', text: t('effect.evenMembers', { count }) };
  }
};

const RANK = { error: 0, warn: 1, ok: 2, idle: 3 } as const;

/** The sentences of a preview: quorum first, then the worst. Never empty. */
export const consequencesOf = (preview: ActionPreview): readonly Consequence[] => {
  const said = preview.effects.map(effectConsequence).filter((item) => item !== undefined);
  const unique = said.filter((item, index) => said.findIndex(({ text }) => text === item.text) === index);
  const all = [
    ...(preview.quorum ? [quorumConsequence(preview.quorum)] : []),
    ...unique.sort((a, b) => RANK[a.tone] - RANK[b.tone]),
  ];
  return all.length > 0 ? all : [{ tone: 'ok', text: t('effect.none') }];
};
