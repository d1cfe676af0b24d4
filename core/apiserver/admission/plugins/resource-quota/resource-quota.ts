import type { Clock } from '../../../../base/clock.ts';
import { internalError } from '../../../../api/meta/index.ts';
import { evaluatorOf, sameResources, type Evaluator } from '../../../../api/quota/index.ts';
import type { AdmissionAttributes, AdmissionPlugin } from '../../attributes.ts';
import { handlesOnly } from '../../matching.ts';
import type { ObjectReader, QuotaWriter } from '../../../storage/object-reader.ts';
import { checkRequest, chargedQuota, runningQuota, type RunningQuota } from './check-request.ts';
import { quotaAccess, type QuotaAccess } from './quota-access.ts';

const RETRIES_MAX = 3;
const EVALUATION_LIMIT_MS = 10_000;

/** One request that waits for its namespace's turn. */
interface Waiter {
  readonly attributes: AdmissionAttributes;
  readonly evaluator: Evaluator;
  /** Undefined: let through. */
  finish(error?: unknown): void;
}

const isChanged = (before: RunningQuota, after: RunningQuota): boolean =>
  !sameResources(before.used, after.used);

/**
 * Checks requests of one namespace against quotas one after another, then writes each quota that changed once. Where a
 * write loses against another server, only that quota is read again and checked.
 */
const settle = async (
  access: QuotaAccess,
  nowMs: () => number,
  start: readonly RunningQuota[],
  waiters: readonly Waiter[],
  retriesLeft: number,
): Promise<void> => {
  let quotas = start;
  const charged: Waiter[] = [];
  for (const waiter of waiters) {
    try {
      const after = checkRequest(quotas, waiter.attributes, waiter.evaluator, nowMs());
      // A dry run is judged and never charged.
      if (waiter.attributes.isDryRun || !after.some((one, at) => isChanged(quotas[at]!, one)))
        waiter.finish();
      else {
        charged.push(waiter);
        quotas = after;
      }
    } catch (error) {
      waiter.finish(error);
    }
  }
  if (charged.length === 0) return;
  const lost: string[] = [];
  let lastError: unknown;
  for (const [at, quota] of quotas.entries()) {
    if (!isChanged(start[at]!, quota)) continue;
    try {
      await access.write(chargedQuota(quota));
    } catch (error) {
      lost.push(quota.quota.metadata?.name ?? '');
      lastError = error;
    }
  }
  if (lost.length === 0) return charged.forEach((waiter) => waiter.finish());
  if (retriesLeft <= 0) return charged.forEach((waiter) => waiter.finish(lastError));
  const namespace = charged[0]!.attributes.namespace;
  const again = await access.live(namespace, lost);
  await settle(access, nowMs, again.map(runningQuota), charged, retriesLeft - 1);
};

export interface ResourceQuotaOptions {
  readonly reader: ObjectReader;
  readonly writer: QuotaWriter;
  readonly clock: Clock;
}

/** Charges what a write adds to the quotas of its namespace, before it is stored. */
export const resourceQuota = ({ reader, writer, clock }: ResourceQuotaOptions): AdmissionPlugin => {
  const access = quotaAccess(reader, writer);
  /** What waits for each namespace that is being worked on. */
  const queues = new Map<string, Waiter[]>();

  const runBatch = async (namespace: string, batch: readonly Waiter[]): Promise<void> => {
    try {
      const quotas = (await access.quotasOf(namespace)).map(runningQuota);
      if (quotas.length === 0) batch.forEach((waiter) => waiter.finish());
      else await settle(access, () => clock.nowMs(), quotas, batch, RETRIES_MAX);
    } catch (error) {
      batch.forEach((waiter) => waiter.finish(error));
    }
  };
  const work = async (namespace: string): Promise<void> => {
    for (;;) {
      const batch = queues.get(namespace) ?? [];
      if (batch.length === 0) break;
      queues.set(namespace, []);
      await runBatch(namespace, batch);
    }
    queues.delete(namespace);
  };
  const enqueue = (waiter: Waiter): void => {
    const { namespace } = waiter.attributes;
    const queue = queues.get(namespace);
    if (queue) {
      queue.push(waiter);
      return;
    }
    queues.set(namespace, [waiter]);
    void work(namespace);
  };

  return {
    name: 'ResourceQuota',
    handles: handlesOnly('CREATE', 'UPDATE'),
    validate(attributes) {
      const { namespace, kind, resource, object } = attributes;
      const isNamespace = kind.group === '' && kind.kind === 'Namespace';
      if (namespace === '' || isNamespace || !object) return undefined;
      const evaluator = evaluatorOf(resource);
      if (!evaluator?.handles(attributes)) return undefined;
      return new Promise((resolve, reject) => {
        const limit = clock.after(EVALUATION_LIMIT_MS, () =>
          reject(internalError('resource quota evaluation timed out')),
        );
        enqueue({
          attributes,
          evaluator,
          finish(error) {
            limit.dispose();
            if (error === undefined) resolve();
            else reject(error as Error);
          },
        });
      });
    },
  };
};
