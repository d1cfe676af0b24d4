import { messageOf } from '../../base/errors.ts';
import { hasStatusReason, isNotFound } from '../../api/meta/index.ts';
import { discover, POD, type Client, type DiscoveredResource, type Pod } from '../../client/index.ts';
import { preferredResources } from '../runtime/preferred-resources.ts';
import type { Findings } from './conditions.ts';

/** What waits for a finalizer is looked at again after this long, as upstream guesses. */
const FINALIZER_ESTIMATE_SECONDS = 15;

export interface DeletionPass extends Findings {
  /** How long what remains is likely to take; 0 when nothing remains. */
  readonly estimateSeconds: number;
}

interface Remains {
  readonly count: number;
  readonly finalizers: readonly string[];
  readonly estimateSeconds: number;
}

const NOTHING: Remains = { count: 0, finalizers: [], estimateSeconds: 0 };

const graceOf = (pod: Pod): number =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    ? 0
    : (pod.spec?.terminationGracePeriodSeconds ?? 0);

const deleteEach = async (client: Client, kind: DiscoveredResource, namespace: string): Promise<void> => {
  const resource = client.resource(kind, namespace);
  for await (const { metadata } of resource.iterate())
    try {
      await resource.delete(metadata.name, { propagationPolicy: 'Background' });
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
};

const deleteAll = async (client: Client, kind: DiscoveredResource, namespace: string): Promise<Remains> => {
  const resource = client.resource(kind, namespace);
  const isPods = kind.group === POD.group && kind.plural === POD.plural;
  let graceSeconds = 0;
  if (isPods)
    for await (const pod of client.resource(POD, namespace).iterate())
      graceSeconds = Math.max(graceSeconds, graceOf(pod));
  if (kind.verbs.includes('deletecollection'))
    await resource.deleteCollection({}, { propagationPolicy: 'Background' });
  else if (kind.verbs.includes('list')) await deleteEach(client, kind, namespace);
  if (!kind.verbs.includes('list')) return NOTHING;
  let count = 0;
  const finalizers: string[] = [];
  for await (const { metadata } of resource.iterate()) {
    count += 1;
    finalizers.push(...(metadata.finalizers ?? []));
  }
  if (count === 0) return NOTHING;
  if (finalizers.length > 0) return { count, finalizers, estimateSeconds: FINALIZER_ESTIMATE_SECONDS };
  if (graceSeconds > 0) return { count, finalizers, estimateSeconds: graceSeconds };
  throw new Error(
    `unexpected items still remain in namespace: ${namespace} for gvr: ${kind.group}/${kind.version}, Resource=${kind.plural}`,
  );
};

/**
 * One pass over everything that a namespace holds, by discovery. Pods go first and all else waits for them (ordered
 * deletion, since 1.33): a pod must not outlive the network policy that fences it. Failures are findings.
 */
export const deleteContent = async (client: Client, namespace: string): Promise<DeletionPass> => {
  const discovery = await discover(client);
  const deletable = preferredResources(discovery).filter(
    ({ namespaced, verbs }) => namespaced && verbs.includes('delete'),
  );
  const isPods = ({ group, plural }: DiscoveredResource): boolean => group === '' && plural === POD.plural;
  const remaining = new Map<DiscoveredResource, number>();
  const finalizers = new Map<string, number>();
  const deletionFailures: string[] = [];
  let estimateSeconds = 0;
  const work = async (kind: DiscoveredResource): Promise<void> => {
    try {
      const remains = await deleteAll(client, kind, namespace);
      if (remains.count > 0) remaining.set(kind, remains.count);
      for (const name of remains.finalizers) finalizers.set(name, (finalizers.get(name) ?? 0) + 1);
      estimateSeconds = Math.max(estimateSeconds, remains.estimateSeconds);
    } catch (error) {
      // The resource was taken from the API meanwhile.
      if (isNotFound(error) || hasStatusReason(error, 'MethodNotAllowed')) return;
      deletionFailures.push(messageOf(error));
    }
  };
  for (const kind of deletable.filter(isPods)) await work(kind);
  if (remaining.size === 0 && deletionFailures.length === 0)
    for (const kind of deletable.filter((one) => !isPods(one))) await work(kind);
  const discoveryFailures = [...discovery.failed].map(([version, why]) => `${version}: ${why}`);
  return { discoveryFailures, deletionFailures, remaining, finalizers, estimateSeconds };
};
