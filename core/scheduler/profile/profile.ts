import { ReasonError } from '../../base/errors.ts';
import { Framework, type PluginsByPoint } from '../framework/framework.ts';
import type { Handle } from '../framework/handle.ts';
import { EXTENSION_POINTS, takesPart, type ExtensionPoint, type Plugin } from '../framework/plugin.ts';
import { expandPlugins, type PluginsConfig } from './plugin-sets.ts';
import { PLUGINS, type PluginFactory } from './registry.ts';

export type ProfileFailure = 'UnknownPlugin' | 'NoQueueSort' | 'NoBind';

export interface ProfileConfig {
  readonly schedulerName: string;
  readonly percentageOfNodesToScore?: number;
  readonly plugins?: PluginsConfig;
  /** By plugin name. */
  readonly pluginConfig?: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
}

/** Makes the plugins of one profile and the framework that runs them. */
export const buildProfile = (
  config: ProfileConfig,
  handleOf: (framework: () => Framework) => Handle,
  registry: ReadonlyMap<string, PluginFactory> = PLUGINS,
): Framework => {
  const handle = handleOf(() => built);
  const made = new Map<string, Plugin>();
  const plugin = (name: string): Plugin => {
    const known = made.get(name);
    if (known) return known;
    const factory = registry.get(name);
    if (!factory)
      throw new ReasonError<ProfileFailure>(
        'UnknownPlugin',
        `profile ${config.schedulerName}: plugin "${name}" does not exist`,
      );
    const fresh = factory(config.pluginConfig?.get(name) ?? {}, handle);
    made.set(name, fresh);
    return fresh;
  };
  const refs = expandPlugins(config.plugins, (name, point) => takesPart(plugin(name), point));
  const plugins = {} as Record<ExtensionPoint, PluginsByPoint[ExtensionPoint]>;
  for (const point of EXTENSION_POINTS)
    plugins[point] = refs[point].map(({ name, weight }) => ({ plugin: plugin(name), weight }));
  if (plugins.QueueSort.length !== 1)
    throw new ReasonError<ProfileFailure>(
      'NoQueueSort',
      `profile ${config.schedulerName}: exactly one queue sort plugin is needed, found ${plugins.QueueSort.length}`,
    );
  if (plugins.Bind.length === 0)
    throw new ReasonError<ProfileFailure>(
      'NoBind',
      `profile ${config.schedulerName}: at least one bind plugin is needed`,
    );
  const built = new Framework({
    profileName: config.schedulerName,
    plugins,
    clock: handle.clock,
    metrics: handle.metrics,
    nominations: handle.nominations,
    ...(config.percentageOfNodesToScore !== undefined && {
      percentageOfNodesToScore: config.percentageOfNodesToScore,
    }),
  });
  return built;
};
