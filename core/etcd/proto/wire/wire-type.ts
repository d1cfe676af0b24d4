/** The low three bits of a tag (protobuf encoding, "message structure"). */
export const WIRE = { varint: 0, fixed64: 1, delimited: 2, groupStart: 3, groupEnd: 4, fixed32: 5 } as const;
