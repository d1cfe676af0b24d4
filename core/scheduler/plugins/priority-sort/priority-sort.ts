import type { Plugin } from '../../framework/plugin.ts';
import { PRIORITY_SORT } from '../../framework/plugin-names.ts';

/** Higher priority first, then who has waited longer. */
export const prioritySort = (): Plugin => ({
  name: PRIORITY_SORT,
  less: (a, b) =>
    a.info.priority > b.info.priority ||
    (a.info.priority === b.info.priority && a.timestampMs < b.timestampMs),
});
