import { computed } from 'vue';
import type { TableRow } from '../../../../core/contract/index.ts';
import { eventRows } from '../../../tables/event-rows.ts';
import { firstSeen } from '../../../tables/first-seen.ts';
import { useRows } from './useRows.ts';
import { warningsOf } from './warnings.ts';

const WARNINGS_SHOWN_MAX = 6;
const EVENTS = { group: '', version: 'v1', plural: 'events' } as const;

/** The newest warnings of a cluster, watched; of one namespace for a user who may list no more. */
export const useWarnings = (cluster: string) => {
  const { rows, columns, isListed, health } = useRows(cluster, EVENTS, 'type=Warning');
  const receivedAtMs = firstSeen<TableRow>();
  return {
    warnings: computed(() =>
      isListed.value
        ? warningsOf(eventRows(rows.value, columns.value, receivedAtMs), WARNINGS_SHOWN_MAX)
        : undefined,
    ),
    problem: computed(() =>
      health.value.phase === 'refused' ? (health.value.error?.message ?? '') : undefined,
    ),
  };
};
