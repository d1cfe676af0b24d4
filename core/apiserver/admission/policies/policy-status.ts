import type { Log } from '../../../base/log.ts';
import { messageOf } from '../../../base/errors.ts';
import { isConflict, isNotFound, type KubernetesObject } from '../../../api/meta/index.ts';
import { num, obj } from '../../../api/validation/read.ts';
import type { Follower } from '../../informer/internal-informer.ts';
import { loadCel } from '../expressions/cel.ts';
import { checkTypes } from './type-checking.ts';

export interface PolicyStatusOptions {
  readonly minor: number;
  readonly log: Log;
  /** Writes the status of a policy; a Conflict means that another server was first. */
  readonly write: (policy: KubernetesObject) => Promise<void>;
}

const isObserved = (policy: KubernetesObject): boolean =>
  num(obj(policy, 'status'), 'observedGeneration') === policy.metadata?.generation;

/**
 * Type-checks validating policies and writes what was found into their status, one policy after another. Every server
 * does it; the one that comes second finds nothing left to do.
 */
export const policyStatusFollower = ({ minor, log, write }: PolicyStatusOptions): Follower => {
  /** The newest of each name that waits. */
  const waiting = new Map<string, KubernetesObject>();
  let isRunning = false;

  const check = async (policy: KubernetesObject): Promise<void> => {
    const warnings = await checkTypes(await loadCel(), policy, minor);
    const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: warnings };
    await write({
      ...policy,
      status: {
        ...obj(policy, 'status'),
        observedGeneration: policy.metadata?.generation,
        typeChecking,
      },
    });
  };
  const run = async (): Promise<void> => {
    isRunning = true;
    for (let next = waiting.entries().next(); !next.done; next = waiting.entries().next()) {
      const [name, policy] = next.value;
      waiting.delete(name);
      try {
        await check(policy);
      } catch (error) {
        if (!isConflict(error) && !isNotFound(error))
          log.write('warn', 'the status of an admission policy could not be written', {
            policy: name,
            error: messageOf(error),
          });
      }
    }
    isRunning = false;
  };
  return {
    upsert(policy) {
      if (isObserved(policy)) return;
      waiting.set(policy.metadata?.name ?? '', policy);
      if (!isRunning) void run();
    },
    remove: (policy) => void waiting.delete(policy.metadata?.name ?? ''),
  };
};
