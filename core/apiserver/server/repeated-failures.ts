import type { Clock } from '../../base/clock.ts';
import type { Registry } from '../../base/metrics/index.ts';
import type { RequestContext } from './context.ts';

/** The same failure so many times in a row is a loop. */
export const REPEATS_MAX = 10;
/** Failures farther apart than this are not in a row. */
export const REPEAT_WITHIN_MS = 120_000;
/** Requests that are remembered; the one that failed longest ago gives way. */
export const REMEMBERED_MAX = 1_024;
const USERS_MAX = 256;

const CHANGES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
/** Too many requests: the client is told to come again, which is no loop of its own. */
const TOO_MANY_REQUESTS = 429;

interface Run {
  code: number;
  count: number;
  lastMs: number;
}

export interface RepeatedFailures {
  observe(context: RequestContext): void;
}

/**
 * Finds clients that repeat the same failing change, such as a controller that creates what exists already. Reads are
 * left out: to ask for something until it is there is an ordinary way to wait. One success ends the run.
 */
export const createRepeatedFailures = (registry: Registry, clock: Clock): RepeatedFailures => {
  const runs = new Map<string, Run>();
  const repeated = registry.counterFamily({
    name: 'pilothouse_apiserver_repeated_failures_total',
    help: 'Changes that one user repeated although the same one had failed again and again.',
    labels: ['user'],
    labelSetsMax: USERS_MAX,
  });
  return {
    observe({ info, user, request, response }) {
      if (!CHANGES.has(info.verb)) return;
      const key = `${user?.name ?? ''} ${info.verb} ${request.path}`;
      const { code } = response;
      if (code < 400 || code === TOO_MANY_REQUESTS) {
        runs.delete(key);
        return;
      }
      const nowMs = clock.monotonicMs();
      const before = runs.get(key);
      const isSame = before?.code === code && nowMs - before.lastMs <= REPEAT_WITHIN_MS;
      const count = isSame ? before.count + 1 : 1;
      runs.delete(key);
      runs.set(key, { code, count, lastMs: nowMs });
      if (runs.size > REMEMBERED_MAX) runs.delete(runs.keys().next().value!);
      if (count >= REPEATS_MAX) repeated.labels(user?.name ?? '').inc();
    },
  };
};
