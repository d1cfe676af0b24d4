export * from './message.ts';
export { decodeMessage, idOf } from './decode.ts';
export { encodeMessage } from './encode.ts';
export { isWireError, WireError } from './errors.ts';
export type { WireReason } from './errors.ts';
export { isWithinZone, labelsOf, lowerName, splitName } from './name.ts';
