export * from './conditions.ts';
export * from './generate-name.ts';
export * from './group-version.ts';
export * from './human-duration.ts';
export * from './object-meta.ts';
export * from './status.ts';
export * from './status-errors.ts';
export * from './time.ts';
