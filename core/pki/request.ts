import { createPublicKey, type KeyObject } from 'node:crypto';
import * as der from './der.ts';
import {
  contextTag,
  expectTag,
  readAll,
  readBits,
  readOid,
  readOne,
  TAG,
  type DerValue,
} from './der-reader.ts';
import type { AlternativeNames } from './alternative-names.ts';
import { PkiError } from './errors.ts';
import { alternativeNamesExtension, decodeExtensions, type Usage } from './extensions.ts';
import { publicKeyDer, signatureAlgorithm, signBytes, verifyBytes } from './keys.ts';
import { decodeName, encodeName, type Subject } from './names.ts';
import { oneFromPem, toPem } from './pem.ts';

/** A PKCS#10 request whose signature was checked: the sender holds the key. Nothing else in it is proven. */
export interface CertificateRequest {
  readonly subject: Required<Subject>;
  readonly alternativeNames: AlternativeNames;
  readonly usages: readonly Usage[];
  readonly publicKey: KeyObject;
}

const OID_EXTENSION_REQUEST = '1.2.840.113549.1.9.14';
const VERSION_1 = 0;
const RSA_BITS_MIN = 2048;

const readKey = (spki: DerValue | undefined): KeyObject => {
  const bytes = Buffer.from(expectTag(spki, TAG.sequence).bytes);
  let key: KeyObject;
  try {
    key = createPublicKey({ key: bytes, format: 'der', type: 'spki' });
  } catch (cause) {
    throw new PkiError('Malformed', 'cannot read the public key of the request', { cause });
  }
  const { namedCurve, modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  const isSupported =
    (key.asymmetricKeyType === 'ec' && namedCurve === 'prime256v1') ||
    (key.asymmetricKeyType === 'rsa' && modulusLength >= RSA_BITS_MIN);
  if (!isSupported)
    throw new PkiError(
      'Unsupported',
      `only P-256 keys and RSA keys of at least ${RSA_BITS_MIN} bits are supported`,
    );
  return key;
};

/** RFC 2986: attributes are a set under [0]; the one that matters holds the wanted extensions. */
const requestedExtensions = (attributes: DerValue | undefined): DerValue | undefined => {
  if (attributes?.tag !== contextTag(0, true)) return undefined;
  for (const attribute of readAll(attributes.content)) {
    const [type, values] = readAll(expectTag(attribute, TAG.sequence).content);
    if (readOid(type) === OID_EXTENSION_REQUEST) return readAll(expectTag(values, TAG.set).content)[0];
  }
  return undefined;
};

/** Throws `Malformed`, `Unsupported`, or `BadSignature` when the key in the request did not sign it. */
export const parseRequestDer = (bytes: Uint8Array): CertificateRequest => {
  const [info, algorithm, signature, ...rest] = readAll(readOne(bytes, TAG.sequence).content);
  if (rest.length > 0) throw new PkiError('Malformed', 'the request contains trailing data');
  const [version, subject, spki, attributes] = readAll(expectTag(info, TAG.sequence).content);
  if (expectTag(version, TAG.integer).content[0] !== VERSION_1)
    throw new PkiError('Unsupported', 'only version 1 requests are supported');
  const publicKey = readKey(spki);
  const [algorithmOid] = readAll(expectTag(algorithm, TAG.sequence).content);
  const claimed = { algorithmOid: readOid(algorithmOid), bytes: readBits(signature) };
  if (!verifyBytes(expectTag(info, TAG.sequence).bytes, claimed, publicKey))
    throw new PkiError('BadSignature', 'the request was not signed with its own key');
  const { alternativeNames, usages } = decodeExtensions(requestedExtensions(attributes));
  return { subject: decodeName(expectTag(subject, TAG.sequence)), alternativeNames, usages, publicKey };
};

export const parseRequestPem = (pem: string): CertificateRequest =>
  parseRequestDer(oneFromPem('CERTIFICATE REQUEST', pem));

/** What a kubelet sends to have its key signed. */
export const createRequest = (
  key: KeyObject,
  wanted: { readonly subject: Subject; readonly alternativeNames?: AlternativeNames },
): string => {
  const names = wanted.alternativeNames ? alternativeNamesExtension(wanted.alternativeNames) : [];
  const attributes =
    names.length === 0 ? [] : [der.sequence(der.oid(OID_EXTENSION_REQUEST), der.set(der.sequence(...names)))];
  const info = der.sequence(
    der.smallInteger(VERSION_1),
    encodeName(wanted.subject),
    der.encoded(publicKeyDer(key)),
    der.implicit(0, attributes),
  );
  const signature = signBytes(der.encode(info), key);
  return toPem(
    'CERTIFICATE REQUEST',
    der.encode(der.sequence(info, signatureAlgorithm(key), der.bitString(signature))),
  );
};
