import { malformed } from './failure.ts';

const WIRE_VARINT = 0;
const WIRE_FIXED64 = 1;
const WIRE_BYTES = 2;
const WIRE_FIXED32 = 5;
const VARINT_BYTES_MAX = 10;
const KEY_FIELD = 1;
const EMPTY = Buffer.alloc(0);

/**
 * The field `key` of an encoded mvccpb.KeyValue, without decoding the rest: counting the live keys of a
 * snapshot looks at every revision. Throws Malformed where protobuf's own decoder would refuse.
 */
export const keyOfKeyValue = (bytes: Buffer, revision: number): Buffer => {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    let scale = 1;
    for (let length = 0; length < VARINT_BYTES_MAX; length += 1) {
      const byte = bytes[at];
      if (byte === undefined) break;
      at += 1;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 0x80;
    }
    throw malformed(`revision ${revision}`, `its KeyValue has a broken varint at byte ${at}`);
  };

  let key: Buffer = EMPTY;
  while (at < bytes.length) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const wire = tag % 8;
    if (field === 0) throw malformed(`revision ${revision}`, `its KeyValue has a field 0 at byte ${at}`);
    const start = at;
    if (wire === WIRE_VARINT) varint();
    else if (wire === WIRE_FIXED64) at += 8;
    else if (wire === WIRE_FIXED32) at += 4;
    else if (wire === WIRE_BYTES) {
      const length = varint();
      if (field === KEY_FIELD) key = bytes.subarray(at, at + length);
      at += length;
    } else throw malformed(`revision ${revision}`, `its KeyValue has wire type ${wire} at byte ${start}`);
    if (at > bytes.length)
      throw malformed(`revision ${revision}`, `field ${field} of its KeyValue is cut off`);
  }
  return key;
};
