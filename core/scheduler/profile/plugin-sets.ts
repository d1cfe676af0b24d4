import { EXTENSION_POINTS, type ExtensionPoint } from '../framework/plugin.ts';
import * as names from '../framework/plugin-names.ts';

export interface PluginRef {
  readonly name: string;
  readonly weight?: number;
}

export interface PluginSet {
  readonly enabled?: readonly PluginRef[];
  readonly disabled?: readonly PluginRef[];
}

/** `plugins` of a profile, as in KubeSchedulerConfiguration. */
export type PluginsConfig = Readonly<Partial<Record<ExtensionPoint | 'MultiPoint', PluginSet>>>;

/** In the order of upstream's default profile. */
export const DEFAULT_PLUGINS: readonly PluginRef[] = [
  { name: names.SCHEDULING_GATES },
  { name: names.PRIORITY_SORT },
  { name: names.NODE_UNSCHEDULABLE },
  { name: names.NODE_NAME },
  { name: names.TAINT_TOLERATION, weight: 3 },
  { name: names.NODE_AFFINITY, weight: 2 },
  { name: names.NODE_PORTS },
  { name: names.NODE_RESOURCES_FIT, weight: 1 },
  { name: names.VOLUME_RESTRICTIONS },
  { name: names.NODE_VOLUME_LIMITS },
  { name: names.VOLUME_BINDING },
  { name: names.VOLUME_ZONE },
  { name: names.POD_TOPOLOGY_SPREAD, weight: 2 },
  { name: names.INTER_POD_AFFINITY, weight: 2 },
  { name: names.DEFAULT_PREEMPTION },
  { name: names.NODE_RESOURCES_BALANCED_ALLOCATION, weight: 1 },
  { name: names.IMAGE_LOCALITY, weight: 1 },
  { name: names.DEFAULT_BINDER },
];

const isDisabled = (set: PluginSet | undefined, name: string): boolean =>
  set?.disabled?.some((ref) => ref.name === '*' || ref.name === name) ?? false;

/** A default that is enabled again keeps its place and takes the new weight; the rest comes after. */
const merge = (defaults: readonly PluginRef[], set: PluginSet | undefined): readonly PluginRef[] => {
  const enabled = set?.enabled ?? [];
  const kept = defaults
    .filter(({ name }) => !isDisabled(set, name))
    .map((ref) => enabled.find(({ name }) => name === ref.name) ?? ref);
  return [...kept, ...enabled.filter((ref) => !kept.includes(ref))];
};

/**
 * Which plugins run at each point, in order: those named for the point that MultiPoint brings too, then what
 * only MultiPoint brings, then what only the point names.
 */
export const expandPlugins = (
  config: PluginsConfig | undefined,
  takesPart: (plugin: string, point: ExtensionPoint) => boolean,
): Readonly<Record<ExtensionPoint, readonly Required<PluginRef>[]>> => {
  const multiPoint = merge(DEFAULT_PLUGINS, config?.MultiPoint);
  const expanded = {} as Record<ExtensionPoint, readonly Required<PluginRef>[]>;
  for (const point of EXTENSION_POINTS) {
    const set = config?.[point];
    const specific = set?.enabled ?? [];
    const fromMulti = multiPoint.filter(({ name }) => takesPart(name, point) && !isDisabled(set, name));
    const named = (refs: readonly PluginRef[], name: string): boolean =>
      refs.some((ref) => ref.name === name);
    const multiNames = multiPoint.filter(({ name }) => takesPart(name, point));
    expanded[point] = [
      ...specific.filter(({ name }) => named(multiNames, name)),
      ...fromMulti.filter(({ name }) => !named(specific, name)),
      ...specific.filter(({ name }) => !named(multiNames, name)),
    ].map(({ name, weight }) => ({ name, weight: weight || 1 }));
  }
  return expanded;
};
