import type { Job } from '../../client/index.ts';
import { countCommon, countIndexes, parseIndexes, type IndexSet } from './index-set.ts';
import { completionsOf } from './job-spec.ts';

/** Which rule makes the job a success before all indexes have succeeded. */
export const successMessage = (job: Job, succeeded: IndexSet): string | undefined => {
  if (succeeded.length === 0) return undefined;
  const rules = job.spec?.successPolicy?.rules ?? [];
  const index = rules.findIndex(({ succeededIndexes, succeededCount }) => {
    if (succeededIndexes === undefined)
      return succeededCount !== undefined && countIndexes(succeeded) >= succeededCount;
    const required = parseIndexes(succeededIndexes, completionsOf(job) ?? 0);
    if (required.length === 0) return false;
    const common = countCommon(required, succeeded);
    return common === countIndexes(required) || (succeededCount !== undefined && common >= succeededCount);
  });
  return index < 0 ? undefined : `Matched rules at index ${index}`;
};
