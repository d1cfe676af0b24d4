import { ACTION } from '../../framework/cluster-event.ts';
import type { Plugin } from '../../framework/plugin.ts';
import { unresolvable } from '../../framework/status.ts';
import { NODE_NAME } from '../../framework/plugin-names.ts';

const OTHER_NODE = unresolvable(NODE_NAME, "node(s) didn't match the requested node name");

/** Matters to a simulation of a pod that already names its node. */
export const nodeName = (): Plugin => ({
  name: NODE_NAME,
  filter: (cycle, { pod }, slot) =>
    pod.spec.nodeName && pod.spec.nodeName !== cycle.snapshot.entry(slot).name ? OTHER_NODE : undefined,
  eventsToRegister: () => [{ resource: 'Node', action: ACTION.add }],
});
