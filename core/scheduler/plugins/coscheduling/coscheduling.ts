import { ACTION, ACTION_UPDATE } from '../../framework/cluster-event.ts';
import type { Handle } from '../../framework/handle.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { unresolvable, unschedulable, type Status } from '../../framework/status.ts';
import type { Pod } from '../../model/objects.ts';
import type { PodInfo } from '../../model/pod-info.ts';
import { COSCHEDULING } from '../../framework/plugin-names.ts';

export interface CoschedulingArgs {
  /** How long members that have a node wait for the rest. */
  readonly permitWaitingTimeSeconds?: number;
}

export const LABEL_POD_GROUP = 'scheduling.x-k8s.io/pod-group';
/** For groups without a PodGroup object: how many members must run together. */
export const LABEL_MIN_MEMBER = 'scheduling.x-k8s.io/min-member';

const PERMIT_WAIT_SECONDS = 60;
/**
 * Activating siblings skips their back-off. Doing it at most this often keeps a group that cannot fit from
 * turning in circles, where each member that finds room wakes those that then find none.
 */
const ACTIVATION_PAUSE_MS = 5000;
/** Groups whose last activation is remembered. */
const GROUPS_MAX = 4096;

interface Group {
  readonly key: string;
  readonly namespace: string;
  readonly name: string;
  readonly minMember: number;
  readonly timeoutMs: number;
}

const groupNameOf = (pod: Pod): string | undefined => pod.metadata.labels?.[LABEL_POD_GROUP];

/**
 * Gangs: the pods of a group are bound together or not at all. Members that have a node wait in Permit until
 * as many as the group needs have one; when one member fits nowhere, or the wait ends, all give their
 * room back, so that half-placed groups cannot lock each other out.
 */
export const coscheduling = (args: CoschedulingArgs, handle: Handle): Plugin => {
  const { lister } = handle;
  const defaultTimeoutMs = (args.permitWaitingTimeSeconds ?? PERMIT_WAIT_SECONDS) * 1000;

  const groupOf = (pod: Pod): Group | undefined => {
    const name = groupNameOf(pod);
    if (!name) return undefined;
    const namespace = pod.metadata.namespace ?? '';
    const object = lister.podGroup(namespace, name);
    const minMember =
      object?.spec?.minMember ?? Number.parseInt(pod.metadata.labels?.[LABEL_MIN_MEMBER] ?? '1', 10);
    const seconds = object?.spec?.scheduleTimeoutSeconds;
    return {
      key: `${namespace}/${name}`,
      namespace,
      name,
      minMember: Number.isFinite(minMember) ? minMember : 1,
      timeoutMs: seconds === undefined ? defaultTimeoutMs : seconds * 1000,
    };
  };
  const isMember = (group: Group, pod: Pod): boolean =>
    pod.metadata.namespace === group.namespace && groupNameOf(pod) === group.name;
  const members = (group: Group): readonly Pod[] =>
    lister.pods(group.namespace).filter((pod) => isMember(group, pod));
  const waiting = (group: Group): readonly PodInfo[] =>
    handle.waitingPods().filter(({ pod }) => isMember(group, pod));
  const rejectAll = (group: Group, message: string): void => {
    for (const { uid } of waiting(group)) handle.rejectWaitingPod(uid, COSCHEDULING, message);
  };
  const activatedAtMs = new Map<string, number>();
  /** Without a push the others could sit in back-off while the wait of this one runs out. */
  const activateSiblings = (group: Group): void => {
    const now = handle.clock.monotonicMs();
    if (now - (activatedAtMs.get(group.key) ?? -Infinity) < ACTIVATION_PAUSE_MS) return;
    if (activatedAtMs.size >= GROUPS_MAX) activatedAtMs.clear();
    activatedAtMs.set(group.key, now);
    const unplaced = members(group).filter(({ spec }) => !spec.nodeName);
    handle.activate(unplaced.map(({ metadata }) => metadata.uid ?? ''));
  };
  const tooFew = (group: Group, count: number): Status =>
    unresolvable(
      COSCHEDULING,
      `cannot find enough sibling pods, current pods number: ${count}, minMember of group: ${group.minMember}`,
    );

  return {
    name: COSCHEDULING,
    preEnqueue(pod) {
      const group = groupOf(pod);
      if (!group) return undefined;
      const count = members(group).length;
      return count < group.minMember ? tooFew(group, count) : undefined;
    },
    preFilter(_, { pod }) {
      const group = groupOf(pod);
      if (!group) return undefined;
      const count = members(group).length;
      return count < group.minMember ? { status: tooFew(group, count) } : undefined;
    },
    permit(_, pod) {
      const group = groupOf(pod.pod);
      if (!group) return { status: undefined };
      const together = waiting(group);
      const boundCount = members(group).filter(({ spec }) => spec.nodeName).length;
      if (boundCount + together.length + 1 >= group.minMember) {
        for (const { uid } of together) handle.allowWaitingPod(uid, COSCHEDULING);
        return { status: undefined };
      }
      activateSiblings(group);
      return {
        status: { code: 'Wait', reasons: [], plugin: COSCHEDULING },
        timeoutMs: group.timeoutMs,
      };
    },
    reserve: () => undefined,
    unreserve(_, { pod }) {
      const group = groupOf(pod);
      if (group) rejectAll(group, 'rejection in Unreserve');
    },
    postFilter(_, { pod }) {
      const group = groupOf(pod);
      const message = group
        ? `PodGroup ${group.key} gets rejected due to Pod ${pod.metadata.name} is unschedulable even after PostFilter`
        : 'can not find pod group';
      if (group) rejectAll(group, message);
      return Promise.resolve({ status: unschedulable(COSCHEDULING, message) });
    },
    eventsToRegister: () => [
      { resource: 'AssignedPod', action: ACTION.add | ACTION.delete },
      { resource: 'UnscheduledPod', action: ACTION.add },
      { resource: 'PodGroup', action: ACTION.add | ACTION_UPDATE },
    ],
  };
};
