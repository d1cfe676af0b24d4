export * from './client.ts';
export * from './kind.ts';
export * from './kinds.ts';
export * from './events/event.ts';
export * from './informers/informer.ts';
export * from './leader-election/election.ts';
export * from './workqueue/queue.ts';
