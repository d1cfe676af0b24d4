import type { Clock } from '../../core/base/clock.ts';
import { isConditionTrue } from '../../core/api/meta/conditions.ts';
import { controllerOf } from '../../core/api/meta/object-meta.ts';
import { pause, POD, type Client, type Pod, type Stored } from '../../core/client/index.ts';

const LOOK_EVERY_MS = 1_000;
const PODS_MAX = 100;
/** Labels that say from which template a pod comes, or which pod of a set it is: the next one has others. */
const OWN_LABELS = new Set([
  'pod-template-hash',
  'controller-revision-hash',
  'pod-template-generation',
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
]);

/** How the pod that takes another's place is found; undefined where no controller will replace it. */
export const replacementSelector = (pod: Stored<Pod>): string | undefined => {
  const owner = controllerOf(pod);
  if (!owner || owner.kind === 'Job' || owner.kind === 'Node') return undefined;
  const labels = Object.entries(pod.metadata.labels ?? {}).filter(([name]) => !OWN_LABELS.has(name));
  return labels.length === 0 ? undefined : labels.map(([name, value]) => `${name}=${value}`).join(',');
};

const isServing = ({ metadata, status }: Stored<Pod>): boolean =>
  metadata.deletionTimestamp === undefined &&
  status?.phase === 'Running' &&
  isConditionTrue(status.conditions, 'Ready');

/** Waits until a ready pod with these labels is there. Undefined once the signal is aborted. */
export const findReplacement = async (
  connect: () => Promise<{ readonly client: Client }>,
  { namespace, labelSelector }: { readonly namespace: string; readonly labelSelector: string },
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> => {
  while (!signal.aborted) {
    try {
      const { client } = await connect();
      for await (const pod of client
        .resource(POD, namespace)
        .iterate({ labelSelector, limit: PODS_MAX, signal }))
        if (isServing(pod)) return pod.metadata.name;
    } catch {
      // The server may be away as well; the next look tells.
    }
    await pause(clock, LOOK_EVERY_MS, signal).catch(() => undefined);
  }
  return undefined;
};
