export * from './decode.ts';
export * from './descriptions.ts';
export * from './duplicate-fields.ts';
export * from './models.ts';
export * from './types.ts';
export * from './walk.ts';
export * from './zero-values.ts';
export * from './defaults/index.ts';
