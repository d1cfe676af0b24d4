import { createHash, createPublicKey, type KeyObject } from 'node:crypto';
import { contextTag, expectTag, readAll, readOne, readTimeMs, TAG } from './der-reader.ts';
import type { AlternativeNames } from './alternative-names.ts';
import { PkiError } from './errors.ts';
import { decodeExtensions, type Usage } from './extensions.ts';
import { decodeName, type Subject } from './names.ts';
import { fromPem, oneFromPem } from './pem.ts';

/** What a certificate says. Reading it proves nothing: trust is decided by the TLS stack. */
export interface Certificate {
  readonly der: Uint8Array;
  readonly serialNumber: string;
  readonly subject: Required<Subject>;
  readonly issuer: Required<Subject>;
  /** The subject's name as written: what certificates issued by this one must carry as their issuer. */
  readonly subjectDer: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly isAuthority: boolean;
  readonly usages: readonly Usage[];
  readonly alternativeNames: AlternativeNames;
  readonly subjectKeyId: string | undefined;
  readonly authorityKeyId: string | undefined;
  readonly fingerprint256: string;
  readonly publicKey: KeyObject;
}

const readPublicKey = (spki: Uint8Array): KeyObject => {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch (cause) {
    throw new PkiError('Malformed', 'cannot read the public key', { cause });
  }
};

export const inspectDer = (der: Uint8Array): Certificate => {
  const [signed] = readAll(readOne(der, TAG.sequence).content);
  const fields = readAll(expectTag(signed, TAG.sequence).content);
  // Version 1 certificates start with the serial number.
  if (fields[0]?.tag === contextTag(0, true)) fields.shift();
  const [serial, , issuer, validity, subject, spki, ...optional] = fields;
  const [notBefore, notAfter] = readAll(expectTag(validity, TAG.sequence).content);
  const extensions = optional.find(({ tag }) => tag === contextTag(3, true));
  const subjectName = expectTag(subject, TAG.sequence);
  return {
    der,
    serialNumber: Buffer.from(expectTag(serial, TAG.integer).content)
      .toString('hex')
      .replace(/^00(?=.)/, ''),
    subject: decodeName(subjectName),
    issuer: decodeName(expectTag(issuer, TAG.sequence)),
    subjectDer: subjectName.bytes,
    notBeforeMs: readTimeMs(notBefore),
    notAfterMs: readTimeMs(notAfter),
    ...decodeExtensions(extensions && readAll(extensions.content)[0]),
    fingerprint256: createHash('sha256').update(der).digest('hex'),
    publicKey: readPublicKey(expectTag(spki, TAG.sequence).bytes),
  };
};

/** The first certificate of a PEM text. */
export const inspectPem = (pem: string): Certificate => inspectDer(oneFromPem('CERTIFICATE', pem));

/** Every certificate of a bundle, in order. */
export const inspectBundle = (pem: string): Certificate[] => fromPem('CERTIFICATE', pem).map(inspectDer);
