export { drainNode } from './drain.ts';
export { createForwardHandlers } from './forwards.ts';
export { createKubeHandlers } from './handlers.ts';
