import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { nodeDisk } from '../base/node/disk.ts';
import { AUTHORITIES, type AuthorityName } from './cluster-spec.ts';
import { PkiError } from './errors.ts';
import { listCertificates } from './inventory.ts';
import { inspectBundle } from './inspect.ts';
import { createAuthority, openAuthority } from './issue.ts';
import { updateKubeconfig } from './kubeconfig.ts';
import { algorithmOf } from './keys.ts';
import {
  certificatePath,
  keyPath,
  loadAuthority,
  readBundle,
  readOptional,
  readRequired,
  writePrivate,
  writePublic,
} from './pki-folder.ts';
import { toPem } from './pem.ts';
import { renewAll } from './renewal.ts';

/**
 * Replacing an authority without a moment in which anybody is cut off, in three steps; between them every
 * component has to read its files again (a real etcd reads whom it trusts at its start only: restart it):
 *
 *   settled    -> startRotation    a successor exists and is trusted beside the old one, which still signs
 *   overlapping-> switchAuthority  the successor signs, and every leaf is reissued; both are trusted
 *   switched   -> finishRotation   the old one is no longer trusted: what it signed is refused from now on
 *
 * The first certificate of the bundle is always the one that signs. The phase is read from the files.
 */
export type RotationPhase = 'settled' | 'overlapping' | 'switched';

const nextKeyBase = (base: string): string => `${base}-next`;

export const rotationPhase = async (directory: string, name: AuthorityName): Promise<RotationPhase> => {
  const { base } = AUTHORITIES[name];
  if ((await readOptional(keyPath(directory, nextKeyBase(base)))) !== undefined) return 'overlapping';
  return inspectBundle(await readBundle(directory, name)).length > 1 ? 'switched' : 'settled';
};

const expectPhase = async (directory: string, name: AuthorityName, phase: RotationPhase): Promise<void> => {
  const found = await rotationPhase(directory, name);
  if (found !== phase)
    throw new PkiError('WrongPhase', `the rotation of the ${name} CA is ${found}, not ${phase}`);
};

/** Kubeconfigs carry the Kubernetes bundle inside; the others are trusted by file alone. */
const publishBundle = async (directory: string, name: AuthorityName, bundle: string): Promise<void> => {
  await writePublic(certificatePath(directory, AUTHORITIES[name].base), bundle);
  if (name !== 'kubernetes') return;
  for (const { kind, path } of await listCertificates(directory))
    if (kind === 'kubeconfig')
      await writePrivate(path, updateKubeconfig(await readRequired(path), path, { authorityPem: bundle }));
};

const bundleOf = (...certificates: readonly Uint8Array[]): string =>
  certificates.map((der) => toPem('CERTIFICATE', der)).join('');

/**
 * Makes the successor and has it trusted. A crash halfway leaves the successor trusted without a key: that reads as
 * `switched` with the old one signing, and `finishRotation` clears it away.
 */
export const startRotation = async (directory: string, name: AuthorityName, clock: Clock): Promise<void> => {
  const { base, commonName } = AUTHORITIES[name];
  await expectPhase(directory, name, 'settled');
  const current = await loadAuthority(directory, name);
  const keyAlgorithm = algorithmOf(current.privateKey);
  const successor = createAuthority({ commonName, clock, keyAlgorithm });
  // The bundle before the key: a bundle with an unused certificate harms no one, a key without one is lost.
  await publishBundle(directory, name, bundleOf(current.certificate.der) + successor.certificatePem);
  await writePrivate(keyPath(directory, nextKeyBase(base)), successor.privateKeyPem);
};

/** Makes the successor the signer and reissues every leaf of this CA. Returns the names of the leaves. */
export const switchAuthority = async (
  directory: string,
  name: AuthorityName,
  clock: Clock,
): Promise<string[]> => {
  const { base } = AUTHORITIES[name];
  await expectPhase(directory, name, 'overlapping');
  const bundle = await readBundle(directory, name);
  const successor = openAuthority({
    certificatePem: bundle,
    privateKeyPem: await readRequired(keyPath(directory, nextKeyBase(base))),
  });
  const others = inspectBundle(bundle).filter(
    ({ fingerprint256 }) => fingerprint256 !== successor.certificate.fingerprint256,
  );
  await publishBundle(directory, name, bundleOf(successor.certificate.der, ...others.map(({ der }) => der)));
  await rename(keyPath(directory, nextKeyBase(base)), keyPath(directory, base));
  await nodeDisk.syncDirectory(dirname(keyPath(directory, base)));
  return renewAll(directory, clock, { authority: name });
};

/** Ends the trust in the old authority. Refuses while a leaf of this cluster still depends on it. */
export const finishRotation = async (directory: string, name: AuthorityName): Promise<void> => {
  await expectPhase(directory, name, 'switched');
  const { certificate } = await loadAuthority(directory, name);
  const left = (await listCertificates(directory)).filter(
    (item) => item.authority === name && item.certificate.authorityKeyId !== certificate.subjectKeyId,
  );
  if (left.length > 0)
    throw new PkiError(
      'WrongPhase',
      `${left.map((item) => item.name).join(', ')} are still signed by the old CA; renew them first`,
    );
  await publishBundle(directory, name, bundleOf(certificate.der));
};

/** Gives up before the switch: the successor is forgotten. */
export const cancelRotation = async (directory: string, name: AuthorityName): Promise<void> => {
  await expectPhase(directory, name, 'overlapping');
  const { certificate } = await loadAuthority(directory, name);
  await rm(keyPath(directory, nextKeyBase(AUTHORITIES[name].base)));
  await publishBundle(directory, name, bundleOf(certificate.der));
};
