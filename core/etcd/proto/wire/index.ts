import type { MessageType } from './field.ts';

export * from './field.ts';
export * from './malformed.ts';
export { message, recursiveMessage } from './message.ts';
export { NESTED_MESSAGES_MAX } from './reader.ts';

/** What decoding a message gives. */
export type MessageOut<T> = T extends MessageType<infer Out, infer _In> ? Out : never;
/** What encoding a message takes: every field may be left out. */
export type MessageIn<T> = T extends MessageType<infer _Out, infer In> ? In : never;
