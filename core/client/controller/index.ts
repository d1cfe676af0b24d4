export * from './claim-objects.ts';
export * from './expectations.ts';
export * from './owner-references.ts';
export * from './pod-conditions.ts';
export * from './pod-ranking.ts';
export * from './slow-start.ts';
export * from './template-hash.ts';
export * from './update-conflict.ts';
