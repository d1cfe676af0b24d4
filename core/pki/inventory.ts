import { join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import { AUTHORITIES, AUTHORITY_NAMES, type AuthorityName } from './cluster-spec.ts';
import { PkiError } from './errors.ts';
import { inspectBundle, inspectPem, type Certificate } from './inspect.ts';
import { readKubeconfig } from './kubeconfig.ts';
import { certificatePath, kubeconfigPath, listFiles, readOptional, readRequired } from './pki-folder.ts';

/** A leaf of a cluster where it stands. */
export interface InventoryItem {
  /** `apiserver-etcd-client`, `hosts/cp-1/apiserver`, `admin.conf`: unique within a cluster. */
  readonly name: string;
  readonly kind: 'files' | 'kubeconfig';
  readonly path: string;
  /** Undefined when none of the cluster's authorities has signed it. */
  readonly authority: AuthorityName | undefined;
  readonly certificate: Certificate;
}

type Bundles = ReadonlyMap<AuthorityName, readonly Certificate[]>;

const readBundles = async (directory: string): Promise<Bundles> => {
  const bundles = new Map<AuthorityName, readonly Certificate[]>();
  for (const name of AUTHORITY_NAMES) {
    const pem = await readOptional(certificatePath(directory, AUTHORITIES[name].base));
    if (pem !== undefined) bundles.set(name, inspectBundle(pem));
  }
  return bundles;
};

const authorityOf = (certificate: Certificate, bundles: Bundles): AuthorityName | undefined =>
  AUTHORITY_NAMES.find((name) =>
    bundles.get(name)?.some(({ subjectKeyId }) => subjectKeyId === certificate.authorityKeyId),
  );

const isAuthorityFile = (base: string): boolean =>
  Object.values(AUTHORITIES).some((authority) => authority.base === base);

/** Every leaf found below the folder, no matter who put it there. */
export const listCertificates = async (directory: string): Promise<InventoryItem[]> => {
  const bundles = await readBundles(directory);
  const items: InventoryItem[] = [];
  const add = (name: string, kind: InventoryItem['kind'], path: string, pem: string): void => {
    const certificate = inspectPem(pem);
    items.push({ name, kind, path, authority: authorityOf(certificate, bundles), certificate });
  };
  for (const file of await listFiles(join(directory, 'pki'), '.crt')) {
    const base = file.slice(0, -'.crt'.length);
    if (isAuthorityFile(base)) continue;
    const path = certificatePath(directory, base);
    add(base, 'files', path, await readRequired(path));
  }
  for (const file of await listFiles(join(directory, 'kubeconfig'), '.conf')) {
    const path = kubeconfigPath(directory, file);
    const { credential } = readKubeconfig(await readRequired(path), path);
    add(file, 'kubeconfig', path, credential.certificatePem);
  }
  return items;
};

export const findCertificate = async (directory: string, name: string): Promise<InventoryItem> => {
  const item = (await listCertificates(directory)).find((one) => one.name === name);
  if (!item) throw new PkiError('NotFound', `certificate ${name} not found in ${directory}`);
  return item;
};

export interface Expiry {
  readonly name: string;
  readonly file: string;
  /** The authority that signed it; for an authority itself, undefined. */
  readonly authority: AuthorityName | undefined;
  readonly isAuthority: boolean;
  readonly notAfterMs: number;
  /** Negative once it has expired. */
  readonly residualMs: number;
}

/** When each certificate and each authority ends, soonest first. */
export const listExpiry = async (directory: string, clock: Clock): Promise<Expiry[]> => {
  const nowMs = clock.nowMs();
  const leaves = (await listCertificates(directory)).map(({ name, path, authority, certificate }) => ({
    name,
    file: path,
    authority,
    isAuthority: false,
    notAfterMs: certificate.notAfterMs,
  }));
  const authorities = [...(await readBundles(directory))].flatMap(([name, certificates]) =>
    certificates.map(({ notAfterMs }, index) => ({
      // During a rotation the second of the bundle is the one that comes or goes.
      name: index === 0 ? AUTHORITIES[name].base : `${AUTHORITIES[name].base} (${index + 1})`,
      file: certificatePath(directory, AUTHORITIES[name].base),
      authority: undefined,
      isAuthority: true,
      notAfterMs,
    })),
  );
  return [...leaves, ...authorities]
    .map((entry) => ({ ...entry, residualMs: entry.notAfterMs - nowMs }))
    .sort((a, b) => a.notAfterMs - b.notAfterMs || a.name.localeCompare(b.name));
};
