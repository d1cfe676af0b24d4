import type { DaemonSet, Pod, Stored } from '../../core/client/index.ts';

/** What becomes of a pod, and in kubectl's words why. The last filter that had something to say is told. */
export interface DrainVerdict {
  readonly pod: Stored<Pod>;
  readonly fate: 'evict' | 'stay' | 'refuse';
  readonly message: string;
}

export interface DrainChoices {
  readonly ignoreDaemonSets: boolean;
  readonly deleteEmptyDirData: boolean;
  readonly force: boolean;
}

/** Answers the DaemonSet, or fails as the server does. */
export type FindDaemonSet = (namespace: string, name: string) => Promise<Stored<DaemonSet>>;

const MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';

const DAEMON_SET_FATAL = 'DaemonSet-managed Pods (use --ignore-daemonsets to ignore)';
const DAEMON_SET_WARNING = 'ignoring DaemonSet-managed Pods';
const LOCAL_STORAGE_FATAL = 'Pods with local storage (use --delete-emptydir-data to override)';
const LOCAL_STORAGE_WARNING = 'deleting Pods with local storage';
const UNMANAGED_FATAL = 'Pods that declare no controller (use --force to override)';
const UNMANAGED_WARNING = 'deleting Pods that declare no controller';

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
  let message = '';
  if (controller?.kind === 'DaemonSet' && controller.apiVersion === 'apps/v1' && !isFinished(pod)) {
    if (missing) {
      if (!missing.isGone || !choices.force) return { pod, fate: 'refuse', message: missing.message };
      message = missing.message;
    } else
      return choices.ignoreDaemonSets
        ? { pod, fate: 'stay', message: DAEMON_SET_WARNING }
        : { pod, fate: 'refuse', message: DAEMON_SET_FATAL };
  }
  if (pod.metadata.annotations?.[MIRROR_ANNOTATION] !== undefined) return { pod, fate: 'stay', message: '' };
  if (isFinished(pod)) return { pod, fate: 'evict', message };
  if (pod.spec?.volumes?.some((volume) => volume.emptyDir !== undefined)) {
    if (!choices.deleteEmptyDirData) return { pod, fate: 'refuse', message: LOCAL_STORAGE_FATAL };
    message = LOCAL_STORAGE_WARNING;
  }
  if (!controller) {
    if (!choices.force) return { pod, fate: 'refuse', message: UNMANAGED_FATAL };
    message = UNMANAGED_WARNING;
  }
  return { pod, fate: 'evict', message };
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

/** Several failures as Kubernetes writes them into one line. */
export const aggregate = (messages: readonly string[]): string => {
  const unique = [...new Set(messages)];
  return unique.length === 1 ? unique[0]! : `[${unique.join(', ')}]`;
};

/** `cannot delete <why>: ns/a, ns/b` for each reason; undefined when nothing is in the way. */
export const refusalOfDrain = (verdicts: readonly DrainVerdict[]): string | undefined => {
  const groups = new Map<string, string[]>();
  for (const { pod, fate, message } of verdicts)
    if (fate === 'refuse') groups.set(message, [...(groups.get(message) ?? []), podKey(pod)]);
  if (groups.size === 0) return undefined;
  return aggregate([...groups].map(([message, pods]) => `cannot delete ${message}: ${pods.join(', ')}`));
};
