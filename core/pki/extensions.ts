import * as der from './der.ts';
import { expectTag, readAll, readOid, TAG, type DerValue } from './der-reader.ts';
import {
  decodeAlternativeNames,
  encodeAlternativeNames,
  isEmpty,
  noAlternativeNames,
  type AlternativeNames,
} from './alternative-names.ts';
import { encodeNameConstraints, OID_NAME_CONSTRAINTS, type PermittedNames } from './name-constraints.ts';

/** What a certificate may be used for in TLS. */
export type Usage = 'server' | 'client';

export const OID_EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
} as const;

const OID_USAGE: Readonly<Record<Usage, string>> = {
  server: '1.3.6.1.5.5.7.3.1',
  client: '1.3.6.1.5.5.7.3.2',
};

/** Bits of keyUsage from the left, RFC 5280, section 4.2.1.3. */
const KEY_USAGE_BIT = { digitalSignature: 0x80, keyEncipherment: 0x20, keyCertSign: 0x04, cRLSign: 0x02 };

const extension = (oid: string, value: der.Der, critical = false): der.Der =>
  der.sequence(der.oid(oid), ...(critical ? [der.boolean(true)] : []), der.octetString(der.encode(value)));

const keyUsage = (bits: number): der.Der => {
  // DER: trailing zero bits of a named bit list are left out.
  const unusedBits = bits === 0 ? 0 : Math.clz32(bits & -bits) ^ 31;
  return extension(OID_EXTENSION.keyUsage, der.bitString(Uint8Array.of(bits), unusedBits), true);
};

export const alternativeNamesExtension = (names: AlternativeNames): der.Der[] =>
  isEmpty(names) ? [] : [extension(OID_EXTENSION.subjectAlternativeName, encodeAlternativeNames(names))];

const identifiers = (subjectKeyId: Uint8Array, authorityKeyId: Uint8Array): der.Der[] => [
  extension(OID_EXTENSION.subjectKeyIdentifier, der.octetString(subjectKeyId)),
  extension(OID_EXTENSION.authorityKeyIdentifier, der.sequence(der.implicit(0, authorityKeyId))),
];

export interface KeyIds {
  readonly subjectKeyId: Uint8Array;
  readonly authorityKeyId: Uint8Array;
}

export const authorityExtensions = (ids: KeyIds, permitted?: PermittedNames): der.Der[] => [
  extension(OID_EXTENSION.basicConstraints, der.sequence(der.boolean(true)), true),
  keyUsage(KEY_USAGE_BIT.digitalSignature | KEY_USAGE_BIT.keyCertSign | KEY_USAGE_BIT.cRLSign),
  ...identifiers(ids.subjectKeyId, ids.authorityKeyId),
  ...(permitted ? [extension(OID_NAME_CONSTRAINTS, encodeNameConstraints(permitted), true)] : []),
];

export interface LeafExtensions extends KeyIds {
  readonly usages: readonly Usage[];
  readonly alternativeNames: AlternativeNames;
  readonly rsa: boolean;
}

/** An empty list is not allowed; without the extension a certificate is good for any usage. */
const usagesExtension = (usages: readonly Usage[]): der.Der[] => {
  const oids = usages.map((usage) => der.oid(OID_USAGE[usage]));
  return oids.length === 0 ? [] : [extension(OID_EXTENSION.extendedKeyUsage, der.sequence(...oids))];
};

export const leafExtensions = (leaf: LeafExtensions): der.Der[] => [
  extension(OID_EXTENSION.basicConstraints, der.sequence(), true),
  // BoringSSL, which Electron has, refuses a TLS certificate without digitalSignature.
  keyUsage(KEY_USAGE_BIT.digitalSignature | (leaf.rsa ? KEY_USAGE_BIT.keyEncipherment : 0)),
  ...usagesExtension(leaf.usages),
  ...identifiers(leaf.subjectKeyId, leaf.authorityKeyId),
  ...alternativeNamesExtension(leaf.alternativeNames),
];

export interface DecodedExtensions {
  readonly isAuthority: boolean;
  readonly usages: readonly Usage[];
  readonly alternativeNames: AlternativeNames;
  readonly subjectKeyId: string | undefined;
  readonly authorityKeyId: string | undefined;
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

const decodeUsages = (bytes: Uint8Array): Usage[] => {
  const [list] = readAll(bytes);
  const oids = readAll(expectTag(list, TAG.sequence).content).map(readOid);
  return (['server', 'client'] as const).filter((usage) => oids.includes(OID_USAGE[usage]));
};

const isAuthority = (bytes: Uint8Array): boolean => {
  const [constraints] = readAll(bytes);
  const [first] = readAll(expectTag(constraints, TAG.sequence).content);
  return first?.tag === TAG.boolean && first.content[0] === 0xff;
};

const authorityKeyId = (bytes: Uint8Array): string | undefined => {
  const [list] = readAll(bytes);
  const id = readAll(expectTag(list, TAG.sequence).content).find(({ tag }) => tag === 0x80);
  return id && hex(id.content);
};

/** Reads an `Extensions` sequence. Extensions that Kubernetes does not look at are left out. */
export const decodeExtensions = (list: DerValue | undefined): DecodedExtensions => {
  const values = new Map<string, Uint8Array>();
  for (const entry of list ? readAll(expectTag(list, TAG.sequence).content) : []) {
    const parts = readAll(expectTag(entry, TAG.sequence).content);
    values.set(readOid(parts[0]), expectTag(parts.at(-1), TAG.octetString).content);
  }
  const read = <T>(oid: string, decode: (bytes: Uint8Array) => T): T | undefined => {
    const bytes = values.get(oid);
    return bytes && decode(bytes);
  };
  return {
    isAuthority: read(OID_EXTENSION.basicConstraints, isAuthority) ?? false,
    usages: read(OID_EXTENSION.extendedKeyUsage, decodeUsages) ?? [],
    alternativeNames:
      read(OID_EXTENSION.subjectAlternativeName, decodeAlternativeNames) ?? noAlternativeNames,
    subjectKeyId: read(OID_EXTENSION.subjectKeyIdentifier, (bytes) =>
      hex(readAll(bytes)[0]?.content ?? bytes),
    ),
    authorityKeyId: read(OID_EXTENSION.authorityKeyIdentifier, authorityKeyId),
  };
};
