import { ACTION, type ClusterEvent } from '../framework/cluster-event.ts';
import type { Node, Pod } from '../model/objects.ts';
import { podRequests } from '../model/resources.ts';

const same = (a: unknown, b: unknown): boolean => a === b || JSON.stringify(a) === JSON.stringify(b);

const hasScaledDown = (before: Pod, after: Pod): boolean => {
  const now = podRequests(after, { nonMissing: false });
  for (const [name, amount] of podRequests(before, { nonMissing: false }))
    if ((now.get(name) ?? 0) < amount) return true;
  return false;
};

/** What of a pod's change may let a pod be scheduled: itself as TargetPod, others as AssignedPod. */
export const podChanges = (
  before: Pod,
  after: Pod,
  resource: 'TargetPod' | 'AssignedPod',
): readonly ClusterEvent[] => {
  const events: ClusterEvent[] = [];
  const note = (action: number, label: string): void =>
    void events.push({ resource, action, label: `${resource}${label}` });
  if (!same(before.metadata.labels, after.metadata.labels)) note(ACTION.updatePodLabel, 'UpdatePodLabel');
  if (hasScaledDown(before, after)) note(ACTION.updatePodScaleDown, 'UpdatePodScaleDown');
  if (!same(before.spec.tolerations, after.spec.tolerations))
    note(ACTION.updatePodToleration, 'UpdatePodToleration');
  if (before.spec.schedulingGates?.length && !after.spec.schedulingGates?.length)
    note(ACTION.updatePodSchedulingGatesEliminated, 'UpdatePodSchedulingGatesEliminated');
  if (events.length === 0 && !same(before.spec, after.spec)) note(ACTION.updateOther, 'Update');
  return events;
};

export const nodeChanges = (before: Node, after: Node): readonly ClusterEvent[] => {
  const events: ClusterEvent[] = [];
  const note = (action: number, label: string): void =>
    void events.push({ resource: 'Node', action, label: `Node${label}` });
  // An uncordoned node may suit anybody, as a new one does.
  if (before.spec?.unschedulable && !after.spec?.unschedulable)
    return [{ resource: 'Node', action: ACTION.add | ACTION.updateNodeTaint, label: 'NodeAdd' }];
  if (!same(before.status?.allocatable, after.status?.allocatable))
    note(ACTION.updateNodeAllocatable, 'UpdateNodeAllocatable');
  if (!same(before.metadata.labels, after.metadata.labels)) note(ACTION.updateNodeLabel, 'UpdateNodeLabel');
  if (!same(before.spec?.taints, after.spec?.taints)) note(ACTION.updateNodeTaint, 'UpdateNodeTaint');
  const conditions = (node: Node): unknown =>
    node.status?.conditions?.map(({ type, status }) => [type, status]);
  if (!same(conditions(before), conditions(after))) note(ACTION.updateNodeCondition, 'UpdateNodeCondition');
  if (!same(before.metadata.annotations, after.metadata.annotations))
    note(ACTION.updateNodeAnnotation, 'UpdateNodeAnnotation');
  return events;
};
