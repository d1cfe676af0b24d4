export { createMonitorHandlers, type MonitorDependencies } from './handlers.ts';
