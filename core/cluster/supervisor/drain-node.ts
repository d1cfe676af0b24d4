import type { Clock } from '../../base/clock.ts';
import { say, SaidError, together } from '../../contract/index.ts';
import { isNotFound, StatusError } from '../../api/meta/status.ts';
import { NODE, pause, POD, type Client, type Pod, type Stored } from '../../client/index.ts';

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
const TOO_MANY_REQUESTS = 429;
/** kubectl asks again after this long when a budget refuses. */
const REFUSED_RETRY_MS = 1_000;
const POLL_MS = 100;
/** An upgrade that no one looks at must not wait for a budget that never allows it. */
export const DRAIN_TIMEOUT_MS = 120_000;

export const setCordon = async (client: Client, node: string, isCordoned: boolean): Promise<void> => {
  await client.resource(NODE).patch(node, {
    type: 'merge',
    // Null removes the field, as kubectl uncordon leaves it.
    body: { spec: { unschedulable: isCordoned ? true : null } },
  });
};

/**
 * What a drain moves away: what a controller makes again elsewhere. Pods of manifests and of DaemonSets belong to the
 * node, and a pod without a controller would be gone for good; their containers outlive the kubelet's change anyway.
 */
export const movable = (pods: readonly Stored<Pod>[]): readonly Stored<Pod>[] =>
  pods.filter(({ metadata }) => {
    const owner = metadata.ownerReferences?.find(({ controller }) => controller === true);
    const isMirror = metadata.annotations?.[MIRROR_ANNOTATION] !== undefined;
    return !isMirror && owner !== undefined && owner.kind !== 'DaemonSet';
  });

/** False when a disruption budget does not allow it now. */
const evict = async (client: Client, { metadata }: Stored<Pod>): Promise<boolean> => {
  try {
    await client.resource(POD, metadata.namespace).createSubresource(metadata.name, 'eviction', {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { name: metadata.name, namespace: metadata.namespace },
      deleteOptions: { preconditions: { uid: metadata.uid } },
    });
    return true;
  } catch (error) {
    if (isNotFound(error)) return true;
    if (error instanceof StatusError && error.code === TOO_MANY_REQUESTS) return false;
    throw error;
  }
};

/** Cordons a node and moves its pods away, as far as budgets allow; resolves with their number when they are gone. */
export const drainNode = async (
  client: Client,
  node: string,
  {
    clock,
    signal,
    onWaiting,
  }: {
    readonly clock: Clock;
    readonly signal: AbortSignal;
    onWaiting(left: number, isRefused: boolean): void;
  },
): Promise<number> => {
  await setCordon(client, node, true);
  const deadlineMs = clock.monotonicMs() + DRAIN_TIMEOUT_MS;
  const evicted = new Set<string>();
  for (;;) {
    const { items } = await client.resource(POD).list({ fieldSelector: `spec.nodeName=${node}` });
    const left = movable(items);
    if (left.length === 0) return evicted.size;
    let isRefused = false;
    for (const pod of left) {
      if (evicted.has(pod.metadata.uid)) continue;
      if (await evict(client, pod)) evicted.add(pod.metadata.uid);
      else isRefused = true;
    }
    if (clock.monotonicMs() > deadlineMs)
      throw new SaidError(
        'DrainTimeout',
        together([
          say('failure.drainTimeout', {
            node,
            seconds: DRAIN_TIMEOUT_MS / 1000,
            count: left.length,
            pod: `${left[0]!.metadata.namespace}/${left[0]!.metadata.name}`,
          }),
          ...(isRefused ? [say('failure.drainTimeout.budget')] : []),
        ]),
      );
    onWaiting(left.length, isRefused);
    await pause(clock, isRefused ? REFUSED_RETRY_MS : POLL_MS, signal);
  }
};
