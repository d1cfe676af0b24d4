import { ACTION } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { skip, unschedulable } from '../../framework/status.ts';
import type { Pod } from '../../model/objects.ts';
import { podInfoOf } from '../../model/pod-info.ts';
import { NODE_PORTS } from '../../framework/plugin-names.ts';

const TAKEN = unschedulable(NODE_PORTS, "node(s) didn't have free ports for the requested pod ports");
const SKIP = { status: skip(NODE_PORTS) };

export const nodePorts = (): Plugin => ({
  name: NODE_PORTS,
  preFilter: (_, pod) => (pod.hostPorts.length === 0 ? SKIP : undefined),
  filter(cycle, pod, slot) {
    const { hostPorts } = cycle.snapshot.entry(slot);
    for (const port of pod.hostPorts) if (hostPorts.conflicts(port)) return TAKEN;
    return undefined;
  },
  eventsToRegister: () => [
    {
      resource: 'AssignedPod',
      action: ACTION.delete,
      hint(pod, deleted) {
        const freed = podInfoOf(deleted as Pod).hostPorts;
        const wanted = podInfoOf(pod).hostPorts;
        return wanted.some(({ port }) => freed.some((other) => other.port === port)) ? 'Queue' : 'QueueSkip';
      },
    },
    { resource: 'Node', action: ACTION.add },
  ],
});
