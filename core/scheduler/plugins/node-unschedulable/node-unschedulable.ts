import { ACTION } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { unresolvable } from '../../framework/status.ts';
import type { Node, Pod, Taint } from '../../model/objects.ts';
import { isTolerated } from '../../model/tolerations.ts';
import { NODE_UNSCHEDULABLE } from '../../framework/plugin-names.ts';

const CORDONED = unresolvable(NODE_UNSCHEDULABLE, 'node(s) were unschedulable');
/** A cordon counts as this taint, so that pods of a DaemonSet tolerate it. */
const TAINT: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

const mayRun = (pod: Pod, node: Node): boolean =>
  !node.spec?.unschedulable || isTolerated(pod.spec.tolerations, TAINT);

export const nodeUnschedulable = (): Plugin => ({
  name: NODE_UNSCHEDULABLE,
  filter: (cycle, { pod }, slot) =>
    cycle.snapshot.columns.unschedulable[slot] === 1 && !isTolerated(pod.spec.tolerations, TAINT)
      ? CORDONED
      : undefined,
  eventsToRegister: () => [
    {
      resource: 'Node',
      action: ACTION.add | ACTION.updateNodeTaint,
      hint: (pod, oldNode, newNode) =>
        mayRun(pod, newNode as Node) && !(oldNode && mayRun(pod, oldNode as Node)) ? 'Queue' : 'QueueSkip',
    },
    { resource: 'TargetPod', action: ACTION.updatePodToleration },
  ],
});
