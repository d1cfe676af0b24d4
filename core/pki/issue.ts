import { createHash, randomBytes, type KeyObject } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { assert } from '../base/assert.ts';
import * as der from './der.ts';
import { readAll, readBits, readOne, TAG } from './der-reader.ts';
import { noAlternativeNames, type AlternativeNames } from './alternative-names.ts';
import { PkiError } from './errors.ts';
import { authorityExtensions, leafExtensions, type Usage } from './extensions.ts';
import { inspectBundle, inspectPem, type Certificate } from './inspect.ts';
import {
  generateKey,
  isRsa,
  privateKeyPem,
  publicKeyDer,
  readPrivateKey,
  signatureAlgorithm,
  signBytes,
  type KeyAlgorithm,
} from './keys.ts';
import type { PermittedNames } from './name-constraints.ts';
import { encodeName, type Subject } from './names.ts';
import { toPem } from './pem.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** kubeadm's defaults: one year for leaves, ten for authorities. */
export const LEAF_VALIDITY_MS = 365 * DAY_MS;
export const AUTHORITY_VALIDITY_MS = 3650 * DAY_MS;
/** Valid a little before now, as kubeadm does, for hosts whose clocks run behind the issuer's. */
export const BACKDATE_MS = 5 * 60 * 1000;

const SERIAL_BYTES = 16;
const SECOND_MS = 1000;
const VERSION_3 = 2;

/** A certificate and its key, as they stand in files. */
export interface Credential {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** An authority that can sign. */
export interface Authority {
  readonly certificate: Certificate;
  readonly privateKey: KeyObject;
}

interface ToBeSigned {
  readonly issuerName: der.Der;
  readonly subject: Subject;
  readonly publicKeyDer: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly extensions: readonly der.Der[];
}

/** RFC 5280, section 4.2.1.2, method 1. */
const keyId = (spki: Uint8Array): Buffer =>
  createHash('sha1')
    .update(readBits(readAll(readOne(spki, TAG.sequence).content)[1]))
    .digest();

const wholeSecond = (atMs: number): number => Math.floor(atMs / SECOND_MS) * SECOND_MS;

const signCertificate = (certificate: ToBeSigned, key: KeyObject): string => {
  assert(certificate.notBeforeMs < certificate.notAfterMs, 'the validity of a certificate must be positive');
  const algorithm = signatureAlgorithm(key);
  const signed = der.sequence(
    der.explicit(0, der.smallInteger(VERSION_3)),
    der.unsignedInteger(randomBytes(SERIAL_BYTES)),
    algorithm,
    certificate.issuerName,
    der.sequence(der.time(certificate.notBeforeMs), der.time(certificate.notAfterMs)),
    encodeName(certificate.subject),
    der.encoded(certificate.publicKeyDer),
    der.explicit(3, der.sequence(...certificate.extensions)),
  );
  const signature = signBytes(der.encode(signed), key);
  return toPem('CERTIFICATE', der.encode(der.sequence(signed, algorithm, der.bitString(signature))));
};

export interface AuthorityRequest {
  readonly commonName: string;
  readonly clock: Clock;
  readonly keyAlgorithm?: KeyAlgorithm;
  readonly validityMs?: number;
  /** Absent: it may vouch for anything, as a cluster's authorities must. */
  readonly permittedNames?: PermittedNames;
}

/** A self-signed root with a fresh key. */
export const createAuthority = (request: AuthorityRequest): Credential => {
  const { commonName, clock, validityMs = AUTHORITY_VALIDITY_MS } = request;
  const key = generateKey(request.keyAlgorithm);
  const spki = publicKeyDer(key);
  const id = keyId(spki);
  const nowMs = wholeSecond(clock.nowMs());
  const certificatePem = signCertificate(
    {
      issuerName: encodeName({ commonName }),
      subject: { commonName },
      publicKeyDer: spki,
      notBeforeMs: nowMs - BACKDATE_MS,
      notAfterMs: nowMs + validityMs,
      extensions: authorityExtensions({ subjectKeyId: id, authorityKeyId: id }, request.permittedNames),
    },
    key,
  );
  return { certificatePem, privateKeyPem: privateKeyPem(key) };
};

/** Whether the first certificate is for the key: a crash between two writes leaves a pair that does not fit. */
export const isKeyPair = (credential: Credential): boolean =>
  publicKeyDer(inspectPem(credential.certificatePem).publicKey).equals(
    publicKeyDer(readPrivateKey(credential.privateKeyPem, 'the key')),
  );

/** During a rotation the bundle holds two authorities: the one that the key belongs to signs. */
export const openAuthority = ({ certificatePem, privateKeyPem: keyPem }: Credential): Authority => {
  const privateKey = readPrivateKey(keyPem, 'the private key of the CA');
  const spki = publicKeyDer(privateKey);
  const certificate = inspectBundle(certificatePem).find((one) => publicKeyDer(one.publicKey).equals(spki));
  if (!certificate) throw new PkiError('Malformed', 'no certificate matches the private key of the CA');
  if (!certificate.isAuthority)
    throw new PkiError(
      'Malformed',
      `the certificate of ${certificate.subject.commonName} is not a CA certificate`,
    );
  return { certificate, privateKey };
};

export interface LeafRequest {
  readonly subject: Subject;
  readonly usages: readonly Usage[];
  readonly alternativeNames?: AlternativeNames;
  readonly clock: Clock;
  readonly validityMs?: number;
}

/** Signs a certificate for a key held elsewhere. It never outlives the authority. */
export const issueFor = (authority: Authority, publicKey: KeyObject, request: LeafRequest): string => {
  const { certificate, privateKey } = authority;
  const { subject, usages, clock, alternativeNames = noAlternativeNames } = request;
  const nowMs = wholeSecond(clock.nowMs());
  if (nowMs >= certificate.notAfterMs)
    throw new PkiError('WrongPhase', `the CA ${certificate.subject.commonName} has expired; rotate it`);
  const spki = publicKeyDer(publicKey);
  const authorityKeyId = certificate.subjectKeyId;
  return signCertificate(
    {
      issuerName: der.encoded(certificate.subjectDer),
      subject,
      publicKeyDer: spki,
      notBeforeMs: Math.max(nowMs - BACKDATE_MS, certificate.notBeforeMs),
      notAfterMs: Math.min(nowMs + (request.validityMs ?? LEAF_VALIDITY_MS), certificate.notAfterMs),
      extensions: leafExtensions({
        usages,
        alternativeNames,
        rsa: isRsa(publicKey),
        subjectKeyId: keyId(spki),
        authorityKeyId: authorityKeyId
          ? Buffer.from(authorityKeyId, 'hex')
          : keyId(publicKeyDer(certificate.publicKey)),
      }),
    },
    privateKey,
  );
};

/** Signs a certificate for a fresh key. */
export const issueLeaf = (
  authority: Authority,
  request: LeafRequest & { readonly keyAlgorithm?: KeyAlgorithm },
): Credential => {
  const key = generateKey(request.keyAlgorithm);
  return { certificatePem: issueFor(authority, key, request), privateKeyPem: privateKeyPem(key) };
};
