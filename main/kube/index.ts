export { createKubeHandlers } from './handlers.ts';
