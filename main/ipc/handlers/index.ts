export { createHandlers } from './create-handlers.ts';
export type { HandlerDependencies, HandlerSet } from './create-handlers.ts';
export type { ClusterRegistry } from './cluster-list.ts';
export { defaultDataDirectory } from './data-directory.ts';
export type { NavigationHub } from '../../state/navigation-hub.ts';
export type { NotificationDraft, NotificationHub } from '../../state/notification-hub.ts';
export type { SettingsStore } from '../../state/settings-store.ts';
export { nodeLoopProbe, nodeProcessSource } from './vitals.ts';
export type { LoopProbe, ProcessSource } from './vitals.ts';
