import { parseApiVersion, type GroupVersionKind } from '../../api/meta/index.ts';
import type { StructType } from '../../api/schema/index.ts';
import { decodeMessage } from './decode-message.ts';
import { malformedMessage, WireReader } from '../../base/node/protobuf/wire-reader.ts';

/** What stands before every protobuf body of the API. */
const MAGIC = Buffer.from('k8s\0');

interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

/** runtime.Unknown: the kind in field 1, the object in field 2. */
const openEnvelope = (bytes: Uint8Array): Envelope => {
  if (!isProtobuf(bytes))
    throw malformedMessage(
      'provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]',
    );
  let [apiVersion, kind] = ['', ''];
  let raw = new Uint8Array();
  for (const reader = new WireReader(bytes.subarray(MAGIC.length)); !reader.isAtEnd;) {
    const { number, bytes: value } = reader.next();
    if (number === 2) raw = Uint8Array.from(value);
    if (number !== 1) continue;
    for (const meta = new WireReader(value); !meta.isAtEnd;) {
      const field = meta.next();
      if (field.number === 1) apiVersion = textOf(field.bytes);
      if (field.number === 2) kind = textOf(field.bytes);
    }
  }
  return { apiVersion, kind, raw };
};

/** The type of a kind in the release that is served. */
export type FindStruct = (kind: GroupVersionKind) => StructType | undefined;

export const isProtobuf = (bytes: Uint8Array): boolean =>
  bytes.length >= MAGIC.length && MAGIC.compare(bytes, 0, MAGIC.length) === 0;

/** The object of a body as JSON has it. One of an unknown kind is only named: anyone who asked for another says so. */
export const parseProtobuf = (bytes: Uint8Array, findStruct: FindStruct): Record<string, unknown> => {
  const { apiVersion, kind, raw } = openEnvelope(bytes);
  const gv = parseApiVersion(apiVersion);
  const struct = gv && findStruct({ ...gv, kind });
  return { apiVersion, kind, ...(struct && decodeMessage(struct, raw)) };
};
