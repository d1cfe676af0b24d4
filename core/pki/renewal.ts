import type { Clock } from '../base/clock.ts';
import type { AuthorityName } from './cluster-spec.ts';
import { PkiError } from './errors.ts';
import { findCertificate, listCertificates, type InventoryItem } from './inventory.ts';
import { issueLeaf, type Authority } from './issue.ts';
import { updateKubeconfig } from './kubeconfig.ts';
import { algorithmOf } from './keys.ts';
import { loadAuthority, readBundle, readRequired, writeCredential, writePrivate } from './pki-folder.ts';

/** Issues a new certificate with a new key and the subject, names and usages of the existing one. */
const renewItem = async (
  directory: string,
  item: InventoryItem,
  authority: Authority,
  clock: Clock,
  validity: { readonly validityMs?: number } = {},
): Promise<void> => {
  const { subject, usages, alternativeNames, publicKey } = item.certificate;
  const keyAlgorithm = algorithmOf(publicKey);
  const request = { subject, usages, alternativeNames, clock, keyAlgorithm, ...validity };
  const credential = issueLeaf(authority, request);
  if (item.kind === 'files') return writeCredential(directory, item.name, credential);
  const text = updateKubeconfig(await readRequired(item.path), item.path, {
    credential,
    authorityPem: await readBundle(directory, 'kubernetes'),
  });
  await writePrivate(item.path, text);
};

const authorityOf = (item: InventoryItem): AuthorityName => {
  if (item.authority) return item.authority;
  throw new PkiError('KeyMissing', `${item.path} was not signed by a CA of this cluster`);
};

/**
 * Renews one certificate by its name in the inventory. Anyone who uses it has to read it again. A negative `validityMs`,
 * within the five minutes by which leaves are backdated, issues one that has expired.
 */
export const renewCertificate = async (
  directory: string,
  name: string,
  clock: Clock,
  validity: { readonly validityMs?: number } = {},
): Promise<void> => {
  const item = await findCertificate(directory, name);
  await renewItem(directory, item, await loadAuthority(directory, authorityOf(item)), clock, validity);
};

/** Renews every certificate that one of ours has signed, or only those of one authority. Returns their names. */
export const renewAll = async (
  directory: string,
  clock: Clock,
  options: { readonly authority?: AuthorityName; isDue?(item: InventoryItem): boolean } = {},
): Promise<string[]> => {
  const opened = new Map<AuthorityName, Authority>();
  const renewed: string[] = [];
  for (const item of await listCertificates(directory)) {
    const { authority: name } = item;
    if (!name || (options.authority && options.authority !== name)) continue;
    if (options.isDue?.(item) === false) continue;
    const authority = opened.get(name) ?? (await loadAuthority(directory, name));
    opened.set(name, authority);
    await renewItem(directory, item, authority, clock);
    renewed.push(item.name);
  }
  return renewed;
};
