import { shallowRef } from 'vue';
import { useCall } from '../../../composables/useCall.ts';
import { usePoll } from '../../../composables/usePoll.ts';
import { warningsOf, type Warning } from './warnings.ts';

const WARNINGS_PAUSE_MS = 10_000;
const WARNINGS_SHOWN_MAX = 6;
const EVENTS_READ_MAX = 500;

/** The newest warnings of a cluster. */
export const useWarnings = (cluster: string) => {
  const ask = useCall('kube.request');
  const warnings = shallowRef<readonly Warning[]>();
  const problem = shallowRef<string>();
  usePoll(async () => {
    const result = await ask.run({
      cluster,
      method: 'GET',
      path: '/api/v1/events',
      query: { fieldSelector: 'type=Warning', limit: `${EVENTS_READ_MAX}` },
    });
    if (result.ok && result.value.ok) {
      warnings.value = warningsOf(result.value.body, WARNINGS_SHOWN_MAX);
      problem.value = undefined;
    } else if (!result.ok) problem.value = result.error.message;
    else if (!result.value.ok) problem.value = result.value.refusal.message;
  }, WARNINGS_PAUSE_MS);
  return { warnings, problem };
};
