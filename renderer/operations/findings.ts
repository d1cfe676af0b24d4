import type { Finding } from '../../core/contract/index.ts';
import type { IconName } from '../components/icon-names.ts';
import { tell } from '../locales/i18n.ts';

export const findingTitle = ({ id }: Pick<Finding, 'id'>): string =>
  tell({ code: `check.${id}`, values: {} });

export const findingIcon: Readonly<Record<Finding['verdict'], IconName>> = {
  ok: 'ok',
  warning: 'warn',
  problem: 'error',
  absent: 'standby',
};

const RANK: Readonly<Record<Finding['verdict'], number>> = { problem: 0, warning: 1, absent: 2, ok: 3 };

/** What a person has to look at first; within a verdict as the host ordered them. */
export const worstFirst = (findings: readonly Finding[]): readonly Finding[] =>
  [...findings].sort((a, b) => RANK[a.verdict] - RANK[b.verdict]);

export const countsOf = (findings: readonly Finding[]): Readonly<Record<Finding['verdict'], number>> => {
  const counts = { ok: 0, warning: 0, problem: 0, absent: 0 };
  for (const { verdict } of findings) counts[verdict] += 1;
  return counts;
};
