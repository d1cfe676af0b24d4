import type { DaemonSet, Pod, Stored } from '../../core/client/index.ts';
import { say, together, verbatim, type Said } from '../../core/contract/index.ts';

export type DrainRefusal =
  | { readonly kind: 'daemonSets' | 'localStorage' | 'unmanaged' }
  | { readonly kind: 'noDaemonSet'; readonly why: string };

export interface DrainVerdict {
  readonly pod: Stored<Pod>;
  readonly fate: 'evict' | 'stay' | 'refuse';
  readonly refusal?: DrainRefusal;
}

export interface DrainChoices {
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  readonly force: boolean;
}

/** Answers the DaemonSet, or fails as the server does. */
export type FindDaemonSet = (namespace: string, name: string) => Promise<Stored<DaemonSet>>;

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

export const podKey = (pod: Stored<Pod>): string => `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;

const isFinished = (pod: Stored<Pod>): boolean =>
  pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';

/**
 * `missing` is what the server said about a DaemonSet that cannot be read; a pod whose DaemonSet is gone is an orphan
 * that `force` removes.
 */
const verdictOf = (
  pod: Stored<Pod>,
  choices: DrainChoices,
  missing: { readonly message: string; readonly isGone: boolean } | undefined,
): DrainVerdict => {
  const controller = pod.metadata.ownerReferences?.find((owner) => owner.controller === true);
  const refuse = (refusal: DrainRefusal): DrainVerdict => ({ pod, fate: 'refuse', refusal });
  if (controller?.kind === 'DaemonSet' && controller.apiVersion === 'apps/v1' && !isFinished(pod)) {
    if (!missing) return choices.ignoreDaemonSets ? { pod, fate: 'stay' } : refuse({ kind: 'daemonSets' });
    if (!missing.isGone || !choices.force) return refuse({ kind: 'noDaemonSet', why: missing.message });
  }
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return { pod, fate: 'stay' };
  if (isFinished(pod)) return { pod, fate: 'evict' };
  const hasLocalData = pod.spec?.volumes?.some((volume) => volume.emptyDir !== undefined) === true;
  if (hasLocalData && !choices.deleteEmptyDirData) return refuse({ kind: 'localStorage' });
  if (!controller && !choices.force) return refuse({ kind: 'unmanaged' });
  return { pod, fate: 'evict' };
};

/** The filters of `kubectl drain`, in its order. */
export const judgePods = async (
  pods: readonly Stored<Pod>[],
  choices: DrainChoices,
  findDaemonSet: FindDaemonSet,
  isGone: (error: unknown) => boolean,
): Promise<DrainVerdict[]> => {
  const missing = new Map<string, { readonly message: string; readonly isGone: boolean } | undefined>();
  const verdicts: DrainVerdict[] = [];
  for (const pod of pods) {
    const namespace = pod.metadata.namespace ?? '';
    const owner = pod.metadata.ownerReferences?.find((each) => each.controller === true);
    const key = `${namespace}/${owner?.name ?? ''}`;
    const isDaemon = owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1';
    if (isDaemon && !missing.has(key))
      missing.set(
        key,
        await findDaemonSet(namespace, owner.name).then(
          () => undefined,
          (error: unknown) => ({
            message: error instanceof Error ? error.message : String(error),
            isGone: isGone(error),
          }),
        ),
      );
    verdicts.push(verdictOf(pod, choices, isDaemon ? missing.get(key) : undefined));
  }
  return verdicts;
};

/** Why nothing is evicted, with the pods for each reason; undefined when nothing is in the way. */
export const refusalOfDrain = (verdicts: readonly DrainVerdict[]): Said | undefined => {
  const groups = new Map<string, { readonly refusal: DrainRefusal; readonly pods: string[] }>();
  for (const { pod, refusal } of verdicts) {
    if (!refusal) continue;
    const key = JSON.stringify(refusal);
    const group = groups.get(key) ?? { refusal, pods: [] };
    group.pods.push(podKey(pod));
    groups.set(key, group);
  }
  if (groups.size === 0) return undefined;
  const sentence = (refusal: DrainRefusal, pods: string): Said =>
    refusal.kind === 'noDaemonSet'
      ? say('drain.noDaemonSet', { why: verbatim(refusal.why), pods })
      : say(`drain.${refusal.kind}`, { pods });
  return together([...groups.values()].map(({ refusal, pods }) => sentence(refusal, pods.join(', '))));
};
