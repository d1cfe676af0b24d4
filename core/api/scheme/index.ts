export * from './conversion/convert-object.ts';
export * from './registry.ts';
export * from './resource-type.ts';
export * from './selectable-fields.ts';
export * from './storage-keys.ts';
export * from './table/index.ts';
export * from './unenforced.ts';
