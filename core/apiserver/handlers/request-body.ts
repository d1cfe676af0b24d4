import { unsupportedMediaType } from '../../api/meta/index.ts';
import { auditRecordOf } from '../audit/record.ts';
import { hasMessage } from '../protobuf/index.ts';
import { decodeBody, type DecodedBody } from './decode-body.ts';
import type { HandlerCall } from './handler-call.ts';
import { bodyEncoding, MEDIA_TYPES } from './media-types.ts';
import type { WriteOptions } from './write-options.ts';

export const readBody = async (
  { context, endpoint, services }: HandlerCall,
  verb: string,
): Promise<Uint8Array> => {
  const bytes = await context.request.body();
  services.metrics.bodyRead(endpoint.resource, verb, bytes.byteLength);
  return bytes;
};

/** The object that a request brings. */
export const readObject = async (
  call: HandlerCall,
  verb: 'create' | 'update',
  options: WriteOptions,
): Promise<DecodedBody> => {
  const { context, endpoint, scope } = call;
  const encoding = bodyEncoding(context.request.headers.get('content-type'));
  // Kinds that no typed client sends as protobuf have no numbers for their fields.
  if (encoding === 'protobuf' && !hasMessage(endpoint.struct)) throw unsupportedMediaType(MEDIA_TYPES);
  const bytes = await readBody(call, verb);
  const decoded = decodeBody(bytes, encoding, {
    endpoint,
    fieldValidation: options.fieldValidation,
    warn: (text) => scope.warn(text),
  });
  const record = auditRecordOf(context);
  if (!record) return decoded;
  return {
    object() {
      const object = decoded.object();
      record.requestObject(object);
      return object;
    },
  };
};
