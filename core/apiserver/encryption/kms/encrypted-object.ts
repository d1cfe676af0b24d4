import { MessageWriter } from '../../../base/node/protobuf/message-writer.ts';
import { readMessage } from '../../../base/node/protobuf/read-message.ts';

/** What the plugin decrypted stands for: the key itself (before 1.29), or a seed from which each value's key is derived. */
export const KEY_SOURCE = { aesGcmKey: 0, seed: 1 } as const;

/** A value as KMS v2 keeps it in etcd. */
export interface EncryptedObject {
  readonly data: Uint8Array;
  readonly keyId: string;
  readonly encryptedKey: Uint8Array;
  readonly annotations: ReadonlyMap<string, Uint8Array>;
  readonly keySource: number;
}

const KEY_ID_BYTES_MAX = 1024;
const ENCRYPTED_KEY_BYTES_MAX = 1024;
const ANNOTATIONS_BYTES_MAX = 32 * 1024;
const DOMAIN_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const DOMAIN_NAME_LENGTH_MAX = 253;

export const keyIdProblem = (keyId: string): string | undefined => {
  const length = Buffer.byteLength(keyId);
  if (length === 0) return 'keyID is empty';
  return length > KEY_ID_BYTES_MAX
    ? `keyID is ${length} bytes, which exceeds the max size of ${KEY_ID_BYTES_MAX}`
    : undefined;
};

const annotationsProblem = (annotations: ReadonlyMap<string, Uint8Array>): string | undefined => {
  let total = 0;
  for (const [key, value] of annotations) {
    if (!DOMAIN_NAME.test(key) || key.length > DOMAIN_NAME_LENGTH_MAX)
      return `annotations: Invalid value: ${JSON.stringify(key)}: should be a domain with at least two segments separated by dots`;
    total += Buffer.byteLength(key) + value.length;
  }
  return total > ANNOTATIONS_BYTES_MAX
    ? `total size of annotations is ${total}, which exceeds the max size of ${ANNOTATIONS_BYTES_MAX}`
    : undefined;
};

/** Throws upstream's text. */
export const checkEncryptedObject = (object: EncryptedObject): void => {
  const { data, keyId, encryptedKey, annotations, keySource } = object;
  if (keySource !== KEY_SOURCE.aesGcmKey && keySource !== KEY_SOURCE.seed)
    throw new Error(`unknown encryptedDEKSourceType: ${keySource}`);
  if (data.length === 0) throw new Error('encrypted data is empty');
  if (encryptedKey.length === 0)
    throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty');
  if (encryptedKey.length > ENCRYPTED_KEY_BYTES_MAX)
    throw new Error(
      `failed to validate encrypted DEK source: encrypted DEK source is ${encryptedKey.length} bytes, which exceeds the max size of ${ENCRYPTED_KEY_BYTES_MAX}`,
    );
  const keyId_ = keyIdProblem(keyId);
  if (keyId_ !== undefined) throw new Error(`failed to validate key id: ${keyId_}`);
  const problem = annotationsProblem(annotations);
  if (problem !== undefined) throw new Error(`failed to validate annotations: ${problem}`);
};

export const encodeEncryptedObject = (object: EncryptedObject): Uint8Array =>
  new MessageWriter()
    .optionalBytes(1, object.data)
    .string(2, object.keyId)
    .optionalBytes(3, object.encryptedKey)
    .map(4, object.annotations)
    .integer(5, object.keySource)
    .finish();

export const decodeEncryptedObject = (bytes: Uint8Array): EncryptedObject => {
  const message = readMessage(bytes);
  const object: EncryptedObject = {
    data: message.bytes(1),
    keyId: message.text(2),
    encryptedKey: message.bytes(3),
    annotations: message.map(4),
    keySource: message.varint(5),
  };
  checkEncryptedObject(object);
  return object;
};
