import { BYTES, VARINT, WireReader } from './wire-reader.ts';

/** A message whose fields are asked by number, for protocols that have no table of types here. */
export interface Message {
  varint(field: number): number;
  bytes(field: number): Uint8Array;
  text(field: number): string;
  /** A message inside; an empty one where there is none. */
  message(field: number): Message;
  /** `repeated`: of strings, bytes or messages. */
  list(field: number): readonly Uint8Array[];
  /** `map<string, bytes>`: one message for each entry. */
  map(field: number): ReadonlyMap<string, Uint8Array>;
}

const EMPTY = new Uint8Array();

/** Fields of other types are passed over; of a field that comes twice the last counts, except in maps. */
export const readMessage = (data: Uint8Array): Message => {
  const numbers = new Map<number, number>();
  const values = new Map<number, Uint8Array[]>();
  for (const reader = new WireReader(data); !reader.isAtEnd;) {
    const { number, wireType, integer, bytes } = reader.next();
    if (wireType === VARINT) numbers.set(number, integer);
    else if (wireType === BYTES) {
      const list = values.get(number);
      if (list) list.push(bytes);
      else values.set(number, [bytes]);
    }
  }
  const bytes = (field: number): Uint8Array => values.get(field)?.at(-1) ?? EMPTY;
  return {
    varint: (field) => numbers.get(field) ?? 0,
    bytes,
    text: (field) => Buffer.from(bytes(field)).toString('utf8'),
    message: (field) => readMessage(bytes(field)),
    list: (field) => values.get(field) ?? [],
    map: (field) =>
      new Map(
        (values.get(field) ?? []).map((entry) => {
          const message = readMessage(entry);
          return [message.text(1), message.bytes(2)] as const;
        }),
      ),
  };
};
