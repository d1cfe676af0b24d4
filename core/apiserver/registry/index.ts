export { createRegistry } from './create-registry.ts';
export type { Registry, RegistryOptions } from './create-registry.ts';
export { eventFor, selectionOf } from './generic/selection.ts';
export type { SelectedEvent, Selection } from './generic/selection.ts';
export type * from './rest-storage.ts';
