import type { Handle } from '../framework/handle.ts';
import type { Plugin } from '../framework/plugin.ts';
import { coscheduling } from '../plugins/coscheduling/coscheduling.ts';
import { defaultBinder } from '../plugins/default-binder/default-binder.ts';
import { defaultPreemption } from '../plugins/default-preemption/default-preemption.ts';
import { imageLocality } from '../plugins/image-locality/image-locality.ts';
import { interPodAffinity } from '../plugins/inter-pod-affinity/inter-pod-affinity.ts';
import * as names from '../framework/plugin-names.ts';
import { nodeAffinity } from '../plugins/node-affinity/node-affinity.ts';
import { nodeName } from '../plugins/node-name/node-name.ts';
import { nodePorts } from '../plugins/node-ports/node-ports.ts';
import { balancedAllocation } from '../plugins/node-resources-balanced-allocation/balanced-allocation.ts';
import { nodeResourcesFit } from '../plugins/node-resources-fit/node-resources-fit.ts';
import { nodeVolumeLimits } from '../plugins/node-volume-limits/node-volume-limits.ts';
import { nodeUnschedulable } from '../plugins/node-unschedulable/node-unschedulable.ts';
import { podTopologySpread } from '../plugins/pod-topology-spread/pod-topology-spread.ts';
import { prioritySort } from '../plugins/priority-sort/priority-sort.ts';
import { schedulingGates } from '../plugins/scheduling-gates/scheduling-gates.ts';
import { taintToleration } from '../plugins/taint-toleration/taint-toleration.ts';
import { volumeBinding } from '../plugins/volume-binding/volume-binding.ts';
import { volumeRestrictions } from '../plugins/volume-restrictions/volume-restrictions.ts';
import { volumeZone } from '../plugins/volume-zone/volume-zone.ts';

/** `args` is what `pluginConfig` says for the plugin, checked when the configuration was read. */
export type PluginFactory = (args: Readonly<Record<string, unknown>>, handle: Handle) => Plugin;

export const PLUGINS: ReadonlyMap<string, PluginFactory> = new Map<string, PluginFactory>([
  [names.PRIORITY_SORT, () => prioritySort()],
  [names.SCHEDULING_GATES, () => schedulingGates()],
  [names.NODE_NAME, () => nodeName()],
  [names.NODE_UNSCHEDULABLE, () => nodeUnschedulable()],
  [names.NODE_PORTS, () => nodePorts()],
  [names.NODE_AFFINITY, (args) => nodeAffinity(args)],
  [names.TAINT_TOLERATION, (_, { features }) => taintToleration(features)],
  [names.NODE_RESOURCES_FIT, (args) => nodeResourcesFit(args)],
  [
    names.NODE_RESOURCES_BALANCED_ALLOCATION,
    (args, { features }) => balancedAllocation(args, { byChange: features.balancedAllocationByChange }),
  ],
  [names.POD_TOPOLOGY_SPREAD, (args, { lister }) => podTopologySpread(args, lister)],
  [names.INTER_POD_AFFINITY, (args, { lister }) => interPodAffinity(args, lister)],
  [names.IMAGE_LOCALITY, () => imageLocality()],
  [names.VOLUME_RESTRICTIONS, (_, { lister }) => volumeRestrictions(lister)],
  [names.NODE_VOLUME_LIMITS, (_, { lister, random }) => nodeVolumeLimits(lister, random)],
  [names.VOLUME_BINDING, (args, handle) => volumeBinding(args, handle)],
  [names.VOLUME_ZONE, (_, { lister }) => volumeZone(lister)],
  [names.DEFAULT_PREEMPTION, (args, handle) => defaultPreemption(args, handle)],
  [names.DEFAULT_BINDER, (_, { api }) => defaultBinder(api)],
  [names.COSCHEDULING, (args, handle) => coscheduling(args, handle)],
]);
