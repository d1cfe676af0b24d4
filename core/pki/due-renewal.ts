import type { Clock } from '../base/clock.ts';
import type { AuthorityName } from './cluster-spec.ts';
import { listCertificates, type InventoryItem } from './inventory.ts';
import { renewAll } from './renewal.ts';
import { rotationPhase } from './rotation.ts';

/** The share of a certificate's lifetime that is left when it is renewed: 73 days of a year. */
const RENEWAL_SHARE = 0.2;
/** Kubelets renew theirs through the certificates API before; this is for those that could not, or did not run. */
const KUBELET_SHARE = 0.05;

const shareOf = (name: string): number => (/^kubelet-.*\.conf$/.test(name) ? KUBELET_SHARE : RENEWAL_SHARE);

/**
 * Renews certificates near their end and returns their names. Those of an authority that is being rotated are left
 * alone: its rotation issues them.
 */
export const renewDue = async (directory: string, clock: Clock): Promise<string[]> => {
  const nowMs = clock.nowMs();
  const due = (await listCertificates(directory)).filter(
    ({ name, certificate: { notBeforeMs, notAfterMs } }) =>
      notAfterMs - nowMs < (notAfterMs - notBeforeMs) * shareOf(name),
  );
  const authorities = new Set(
    due.flatMap(({ authority }): AuthorityName[] => (authority ? [authority] : [])),
  );
  const settled = new Set<AuthorityName>();
  for (const name of authorities) if ((await rotationPhase(directory, name)) === 'settled') settled.add(name);
  const names = new Set(
    due.flatMap(({ name, authority }) => (authority && settled.has(authority) ? [name] : [])),
  );
  if (names.size === 0) return [];
  return renewAll(directory, clock, { isDue: ({ name }: InventoryItem) => names.has(name) });
};
