import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import {
  AUTHORITIES,
  AUTHORITY_NAMES,
  planLeaves,
  serverUrl,
  type AuthorityName,
  type ClusterPkiSpec,
  type LeafPlan,
} from './cluster-spec.ts';
import { PkiError } from './errors.ts';
import { createAuthority, issueLeaf, openAuthority, type Credential } from './issue.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { generateKey, privateKeyPem, publicKeyPem } from './keys.ts';
import {
  certificatePath,
  kubeconfigPath,
  runBounded,
  writeCredential,
  writePrivate,
  writePublic,
} from './pki-folder.ts';

/** Service account tokens are signed with RSA by default upstream; ES256 is accepted everywhere, and faster. */
const serviceAccountKey = (directory: string, spec: ClusterPkiSpec): (() => Promise<void>) => {
  const key = generateKey(spec.keyAlgorithm);
  return async () => {
    await writePrivate(join(directory, 'pki', 'sa.key'), privateKeyPem(key));
    await writePublic(join(directory, 'pki', 'sa.pub'), publicKeyPem(key));
  };
};

/**
 * Makes every key and certificate of a new cluster below `directory` (`pki/` and `kubeconfig/`). Refuses where an
 * authority is already: replacing one cuts off everything it has signed. The authorities' certificates are written
 * last, so that an incomplete directory is detected and recreated.
 */
export const createClusterPki = async (
  spec: ClusterPkiSpec,
  directory: string,
  clock: Clock,
): Promise<void> => {
  for (const { base } of Object.values(AUTHORITIES))
    if (existsSync(certificatePath(directory, base)))
      throw new PkiError(
        'AlreadyExists',
        `${certificatePath(directory, base)} exists; renew or rotate it instead`,
      );

  const { keyAlgorithm = 'ECDSA-P256' } = spec;
  const roots = Object.fromEntries(
    AUTHORITY_NAMES.map((name) => [
      name,
      createAuthority({ commonName: AUTHORITIES[name].commonName, clock, keyAlgorithm }),
    ]),
  ) as Record<AuthorityName, Credential>;

  const writeLeaf = (plan: LeafPlan): (() => Promise<void>) => {
    const { target, authority, subject, usages, alternativeNames } = plan;
    const request = { subject, usages, alternativeNames, clock, keyAlgorithm };
    const credential = issueLeaf(openAuthority(roots[authority]), request);
    if (target.kind === 'files') return () => writeCredential(directory, target.base, credential);
    const text = writeKubeconfig({
      clusterName: spec.clusterName,
      server: serverUrl(spec),
      authorityPem: roots.kubernetes.certificatePem,
      userName: subject.commonName,
      credential,
    });
    return () => writePrivate(kubeconfigPath(directory, target.file), text);
  };

  await runBounded([...planLeaves(spec).map(writeLeaf), serviceAccountKey(directory, spec)]);
  await runBounded(
    AUTHORITY_NAMES.map((name) => () => writeCredential(directory, AUTHORITIES[name].base, roots[name])),
  );
};
