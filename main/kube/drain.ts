import { isForbidden, isNotFound, isTooManyRequests, StatusError } from '../../core/api/meta/status.ts';
import type { Clock } from '../../core/base/clock.ts';
import { systemClock } from '../../core/base/node/clock.ts';
import { DAEMON_SET, NODE, pause, POD, type Client, type Pod, type Stored } from '../../core/client/index.ts';
import { ContractError, SaidError, saidOf, say, together, type Said } from '../../core/contract/index.ts';
import type { StepReport } from '../../core/cluster/operation/step-report.ts';
import type { OperationRunner } from '../clusters/operation-runner.ts';
import { judgePods, podKey, refusalOfDrain } from './drain-filter.ts';
import { kubeFailure } from './failure.ts';

/** kubectl's own: how long after a refused eviction it is tried again, and how often a pod is looked for. */
export const EVICT_RETRY_MS = 5_000;
export const GONE_POLL_MS = 1_000;
/** kubectl waits for ever; an operation that no one looks at must end. */
export const DRAIN_LIMIT_MS = 30 * 60_000;
const TIMED_OUT = say('drain.timeout', { minutes: DRAIN_LIMIT_MS / 60_000 });
/** kubectl evicts all pods at the same time; more than this only makes them wait for each other in the server. */
const EVICTIONS_AT_ONCE_MAX = 16;
const PODS_PER_PAGE = 500;

interface Draining {
  readonly client: Client;
  readonly clock: Clock;
  readonly report: StepReport;
  readonly signal: AbortSignal;
  readonly gracePeriodSeconds: number | null;
  readonly endsAtMs: number;
}

const stepOf = (pod: Stored<Pod>): string => `pod:${podKey(pod)}`;

const namespaceTerminates = (error: unknown): boolean =>
  error instanceof StatusError &&
  isForbidden(error) &&
  (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating');

const cordon = async ({ client, report, signal }: Draining, node: string): Promise<void> => {
  report.begin('cordon');
  const nodes = client.resource(NODE);
  const before = await nodes.get(node, { signal });
  if (before.spec?.unschedulable === true) return report.end('cordon', say('detail.cordoned'));
  await nodes.patch(node, { type: 'strategic', body: { spec: { unschedulable: true } } }, { signal });
  report.end('cordon');
};

/** Undefined when the pod is gone, or another one has its name. */
const stillThere = async (
  { client, signal }: Draining,
  pod: Stored<Pod>,
): Promise<Stored<Pod> | undefined> => {
  const found = await client
    .resource(POD, pod.metadata.namespace)
    .find(pod.metadata.name, { signal })
    // A server that is away for a moment says nothing about the pod.
    .catch((error: unknown) => (signal.aborted ? Promise.reject(error as Error) : pod));
  return found?.metadata.uid === pod.metadata.uid ? found : undefined;
};

/** Asks until the server takes it. True: it does; false: there is nothing left to evict. */
const evict = async (draining: Draining, pod: Stored<Pod>): Promise<boolean> => {
  const { client, clock, report, signal, gracePeriodSeconds, endsAtMs } = draining;
  const { namespace = '', name } = pod.metadata;
  const where = `pods/${JSON.stringify(name)} -n ${JSON.stringify(namespace)}`;
  const failed = (why: Said, cause: unknown): SaidError =>
    new SaidError('Conflict', say('drain.evict', { pod: where, why }), { cause });
  const body = {
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace },
    deleteOptions: gracePeriodSeconds === null ? {} : { gracePeriodSeconds },
  };
  let active = pod;
  for (;;) {
    try {
      await client.resource(POD, namespace).createSubresource(name, 'eviction', body, { signal });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      const isLeaving = active.metadata.deletionTimestamp !== undefined;
      if (namespaceTerminates(error) && isLeaving) return true;
      if (!isTooManyRequests(error) && !namespaceTerminates(error)) throw failed(saidOf(error), error);
      if (clock.monotonicMs() + EVICT_RETRY_MS > endsAtMs) throw failed(TIMED_OUT, error);
      const seconds = EVICT_RETRY_MS / 1000;
      report.detail(stepOf(pod), say('drain.evict.retry', { pod: where, seconds, why: saidOf(error) }));
      await pause(clock, EVICT_RETRY_MS, signal);
      const found = await stillThere(draining, pod);
      if (!found) return false;
      active = found;
    }
  }
};

const evictAndWait = async (draining: Draining, pod: Stored<Pod>): Promise<void> => {
  const { clock, report, signal, endsAtMs } = draining;
  const { namespace = '', name } = pod.metadata;
  const step = stepOf(pod);
  await report.checkpoint();
  report.begin(step);
  const isAccepted = await evict(draining, pod);
  if (isAccepted) {
    report.detail(step, say('detail.evicted.waiting'));
    while (await stillThere(draining, pod)) {
      if (clock.monotonicMs() > endsAtMs)
        throw new SaidError(
          'Conflict',
          say('drain.wait', {
            pod: `${JSON.stringify(name)} -n ${JSON.stringify(namespace)}`,
            why: TIMED_OUT,
          }),
        );
      await pause(clock, GONE_POLL_MS, signal);
    }
  }
  report.end(step, say(isAccepted ? 'detail.evicted' : 'detail.gone'));
};

/** A few at a time; one that fails does not keep the others. Answers what failed. */
const evictAll = async (draining: Draining, pods: readonly Stored<Pod>[]): Promise<Said[]> => {
  const waiting = [...pods];
  const failures: Said[] = [];
  const work = async (): Promise<void> => {
    for (let pod = waiting.shift(); pod && !draining.signal.aborted; pod = waiting.shift())
      try {
        await evictAndWait(draining, pod);
      } catch (error) {
        draining.report.detail(stepOf(pod), saidOf(error));
        failures.push(saidOf(error));
      }
  };
  await Promise.all(Array.from({ length: Math.min(EVICTIONS_AT_ONCE_MAX, pods.length) }, work));
  return failures;
};

const podsOn = async ({ client, signal }: Draining, node: string): Promise<Stored<Pod>[]> => {
  const pods: Stored<Pod>[] = [];
  const query = { fieldSelector: `spec.nodeName=${node}`, limit: PODS_PER_PAGE, signal };
  for await (const pod of client.resource(POD).iterate(query)) pods.push(pod);
  return pods;
};

/** `kubectl drain`: the same order, the same refusals, one step a pod. */
export const drainNode =
  (
    connect: (cluster: string) => Promise<{ readonly client: Client }>,
    clock: Clock = systemClock,
  ): OperationRunner<'node.drain'> =>
  async ({ node, gracePeriodSeconds, ...choices }, { cluster, report, signal }) => {
    const { client } = await connect(cluster);
    const endsAtMs = clock.monotonicMs() + DRAIN_LIMIT_MS;
    const draining = { client, clock, report, signal, gracePeriodSeconds, endsAtMs };
    const head = [
      { id: 'cordon', title: say('step.drain.cordon', { node }) },
      { id: 'pods', title: say('step.drain.pods', { node }) },
    ];
    const unable = (why: Said): ContractError =>
      new ContractError('Conflict', say('failure.drain', { node, why }));
    report.plan(head);
    try {
      await cordon(draining, node);
      await report.checkpoint();
      report.begin('pods');
      const verdicts = await judgePods(
        await podsOn(draining, node),
        choices,
        (namespace, name) => client.resource(DAEMON_SET, namespace).get(name, { signal }),
        isNotFound,
      );
      const refusal = refusalOfDrain(verdicts);
      if (refusal !== undefined) throw unable(refusal);
      const leaving = verdicts.filter(({ fate }) => fate === 'evict').map(({ pod }) => pod);
      report.plan([
        ...head,
        ...leaving.map((pod) => ({ id: stepOf(pod), title: say('step.drain.evict', { pod: podKey(pod) }) })),
      ]);
      const stays = verdicts.length - leaving.length;
      report.end('pods', say('detail.pods', { count: leaving.length, ignored: stays }));
      const failures = await evictAll(draining, leaving);
      signal.throwIfAborted();
      if (failures.length > 0) throw unable(together(failures));
      return say('done.drain', { node, count: leaving.length });
    } catch (error) {
      throw kubeFailure(error);
    }
  };
