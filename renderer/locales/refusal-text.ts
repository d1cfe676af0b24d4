import type { Refusal } from '../../core/contract/index.ts';
import { t } from './i18n.ts';

/** What the server said, and where it is a disruption budget that refused, which one and what to do. */
export const refusalText = ({ message, causes }: Refusal): string => {
  const budget = causes.find(({ reason }) => reason === 'DisruptionBudget');
  return budget ? t('evict.refused', { why: budget.message }) : message;
};
