import { bytes, enumeration, int64, int64Number, message, nested } from './wire/index.ts';
import type { MessageIn, MessageOut } from './wire/index.ts';

/** mvccpb/kv.proto */
export const KeyValue = message('mvccpb.KeyValue', {
  key: bytes(1),
  createRevision: int64Number(2),
  modRevision: int64Number(3),
  version: int64Number(4),
  value: bytes(5),
  lease: int64(6),
});
export type KeyValue = MessageOut<typeof KeyValue>;
export type KeyValueIn = MessageIn<typeof KeyValue>;

export const EVENT_TYPE = { PUT: 0, DELETE: 1 } as const;
export type EventType = (typeof EVENT_TYPE)[keyof typeof EVENT_TYPE];

export const Event = message('mvccpb.Event', {
  type: enumeration<EventType>(1, EVENT_TYPE),
  kv: nested(2, () => KeyValue),
  prevKv: nested(3, () => KeyValue),
});
export type Event = MessageOut<typeof Event>;
export type EventIn = MessageIn<typeof Event>;
