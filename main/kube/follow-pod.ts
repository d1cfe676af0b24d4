import { saidOf, say, type PortForward, type Said } from '../../core/contract/index.ts';
import type { ForwardDependencies } from './forwards.ts';
import { watchObject } from './object-watch.ts';
import { findReplacement } from './replacement-pod.ts';

const POD = { group: '', version: 'v1', plural: 'pods' };

/** A forward as far as it depends on its pod. */
export interface FollowedForward {
  view: PortForward;
  /** Finds the pod that takes the place of this one; undefined: nothing will. */
  readonly replacement: string | undefined;
  /** Resolves when a pod is there again; connections wait for it. */
  awaited: Promise<void>;
  readonly stop: AbortController;
}

interface FollowOptions extends ForwardDependencies {
  change(patch: Partial<PortForward>): void;
  /** Nothing will serve this port again. */
  end(why: Said): void;
}

const phaseOf = (pod: Record<string, unknown>): string => {
  const status = pod['status'] as { phase?: unknown } | undefined;
  return typeof status?.phase === 'string' ? status.phase : '';
};

/** Answers why the pod no longer serves, or undefined where that cannot be known. */
const untilGone = async (
  { view, stop }: FollowedForward,
  { connect, clock, random, change }: FollowOptions,
): Promise<Said | undefined> => {
  const { cluster, namespace, pod: name } = view;
  const query = { cluster, resource: POD, namespace, name };
  try {
    const { client } = await connect(cluster);
    for await (const items of watchObject(query, { client, clock, random }, stop.signal))
      for (const item of items) {
        if (item.kind === 'gone') return say('failure.podDeleted', { pod: `${namespace}/${name}` });
        const phase = item.kind === 'object' ? phaseOf(item.object) : '';
        if (phase === 'Succeeded' || phase === 'Failed')
          return say('failure.podTerminated', { pod: `${namespace}/${name}`, phase });
      }
  } catch (error) {
    // Who may not watch pods can forward all the same; the next connection tells how it is.
    change({ problem: saidOf(error) });
  }
  return undefined;
};

/** When its pod goes, a forward moves to the one that takes its place; without a controller it ends. */
export const followPod = async (forward: FollowedForward, options: FollowOptions): Promise<void> => {
  const { connect, clock, change, end } = options;
  const { signal } = forward.stop;
  while (!signal.aborted) {
    const gone = await untilGone(forward, options);
    if (gone === undefined || signal.aborted) return;
    const { replacement: labelSelector } = forward;
    if (labelSelector === undefined) return end(gone);
    const { cluster, namespace } = forward.view;
    let resume = (): void => undefined;
    forward.awaited = new Promise((resolve) => (resume = resolve));
    change({ isWaiting: true, problem: gone });
    const pod = await findReplacement(() => connect(cluster), { namespace, labelSelector }, clock, signal);
    if (pod !== undefined) change({ pod, isWaiting: false, problem: null });
    resume();
  }
};
