export { configurationHash, loadTransformers, plainValues, startEncryption } from './encryption.ts';
export type { Encryption } from './encryption.ts';
export { parseEncryptionConfiguration } from './configuration.ts';
export type { EncryptionConfiguration, Provider } from './configuration.ts';
export type { Transformers } from './transformers.ts';
