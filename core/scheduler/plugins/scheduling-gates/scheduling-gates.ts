import { ACTION } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { unresolvable } from '../../framework/status.ts';
import { SCHEDULING_GATES } from '../../framework/plugin-names.ts';

/** Keeps a pod out of the queue while anything in `spec.schedulingGates` is left. */
export const schedulingGates = (): Plugin => ({
  name: SCHEDULING_GATES,
  preEnqueue(pod) {
    const gates = pod.spec.schedulingGates;
    if (!gates?.length) return undefined;
    return unresolvable(
      SCHEDULING_GATES,
      `waiting for scheduling gates: [${gates.map(({ name }) => name).join(' ')}]`,
    );
  },
  eventsToRegister: () => [{ resource: 'TargetPod', action: ACTION.updatePodSchedulingGatesEliminated }],
});
