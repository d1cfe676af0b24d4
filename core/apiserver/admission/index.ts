export type * from './attributes.ts';
export type * from './object-reader.ts';
export { builtInPlugins } from './built-in-plugins.ts';
export type { PluginDependencies } from './built-in-plugins.ts';
export { createAdmissionChain } from './chain.ts';
export type { AdmissionChainOptions } from './chain.ts';
export { Reinvocation } from './reinvocation.ts';
export { DEFAULT_PLUGINS, PLUGIN_ORDER, selectPlugins } from './selection.ts';
export type { PluginName } from './selection.ts';
