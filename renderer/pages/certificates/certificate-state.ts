import type { CertificateView } from '../../../core/contract/index.ts';

/** `stale`: renewed on disk, but a server still presents another one. `due`: ends within 30 days. */
export type CertificateState = 'expired' | 'stale' | 'due' | 'ok';

const DAY_MS = 86_400_000;
export const DUE_DAYS = 30;

/** Serials are written with and without colons, in either case, with leading zeros or none. */
export const plainSerial = (serial: string): string =>
  serial
    .replaceAll(':', '')
    .toLowerCase()
    .replace(/^0+(?=.)/, '');

/** 5c1e90a7 as 5c:1e:90:a7: read aloud and compared in pairs. */
export const pairedSerial = (serial: string): string => inPairs(plainSerial(serial));

export const inPairs = (hex: string): string => {
  const plain = hex.replaceAll(':', '').toLowerCase();
  return (plain.length % 2 === 0 ? plain : `0${plain}`).match(/../g)?.join(':') ?? plain;
};

type Dated = Pick<CertificateView, 'serial' | 'notAfterMs' | 'served'>;

export const isStale = ({ served, serial }: Dated): boolean =>
  served !== null && plainSerial(served.serial) !== plainSerial(serial);

/** When clients begin to fail: what is served counts, not the file beside it. */
export const endsAtMs = ({ served, notAfterMs }: Dated): number => served?.notAfterMs ?? notAfterMs;

export const leftDays = (endMs: number, nowMs: number): number => Math.floor((endMs - nowMs) / DAY_MS);

/** Its worst state. A stale certificate that expires soon counts as stale: a restart fixes both. */
export const certificateState = (certificate: Dated, nowMs: number): CertificateState => {
  const endMs = Math.min(endsAtMs(certificate), certificate.notAfterMs);
  if (endMs <= nowMs) return 'expired';
  if (isStale(certificate)) return 'stale';
  return leftDays(endMs, nowMs) < DUE_DAYS ? 'due' : 'ok';
};

export const STATE_ORDER: readonly CertificateState[] = ['expired', 'stale', 'due', 'ok'];

/** `hosts/cp-1/etcd/server` is `etcd/server` on cp-1; others belong to no host. */
export const placeOf = (name: string): { readonly host: string; readonly short: string } => {
  const [, host = '', short = name] = /^hosts\/([^/]+)\/(.+)$/.exec(name) ?? [];
  return { host, short };
};

/** Who presents it, as a component of its host. */
export const componentOf = (
  name: string,
): { readonly host: string; readonly component: string } | undefined => {
  const { host, short } = placeOf(name);
  if (host === '') return undefined;
  if (short === 'apiserver') return { host, component: 'kube-apiserver' };
  return short.startsWith('etcd/') ? { host, component: 'etcd' } : undefined;
};

export type Branch = 'serving' | 'clients';

export const branchOf = ({ usages }: Pick<CertificateView, 'usages'>): Branch =>
  usages.some((usage) => usage.toLowerCase().includes('server')) ? 'serving' : 'clients';

export interface AuthorityNode {
  /** As leaves name it; empty for those that none of the cluster's authorities has signed. */
  readonly id: string;
  /** The file of the authority; during a rotation there are two. */
  readonly certificates: readonly CertificateView[];
  readonly branches: readonly { readonly branch: Branch; readonly leaves: readonly CertificateView[] }[];
}

/** Authorities with what they signed. */
export const authorityTree = (certificates: readonly CertificateView[]): readonly AuthorityNode[] => {
  const leaves = certificates.filter(({ kind }) => kind !== 'authority');
  const authorities = certificates.filter(({ kind }) => kind === 'authority');
  const idOf = ({ authority, name }: CertificateView): string => authority || name;
  const ids = new Set([...authorities.map(idOf), ...leaves.map(({ authority }) => authority)]);
  return [...ids].map((id) => {
    const signed = leaves.filter(({ authority }) => authority === id);
    return {
      id,
      certificates: authorities.filter((one) => idOf(one) === id),
      branches: (['serving', 'clients'] as const)
        .map((branch) => ({ branch, leaves: signed.filter((leaf) => branchOf(leaf) === branch) }))
        .filter(({ leaves: found }) => found.length > 0),
    };
  });
};

export interface CertificateFilter {
  readonly text: string;
  readonly authority: string | undefined;
  readonly branch: Branch | undefined;
  readonly host: string | undefined;
  readonly state: CertificateState | 'action' | undefined;
  readonly names: readonly string[] | undefined;
}

export const matches = (certificate: CertificateView, filter: CertificateFilter, nowMs: number): boolean => {
  const { text, authority, branch, host, state, names } = filter;
  if (authority !== undefined && certificate.authority !== authority) return false;
  if (branch !== undefined && branchOf(certificate) !== branch) return false;
  if (host !== undefined && placeOf(certificate.name).host !== host) return false;
  if (names !== undefined && !names.includes(certificate.name)) return false;
  const is = certificateState(certificate, nowMs);
  if (state !== undefined && (state === 'action' ? is === 'ok' : is !== state)) return false;
  const wanted = text.trim().toLowerCase();
  return [certificate.name, certificate.subject, certificate.authority, ...certificate.alternativeNames].some(
    (value) => value.toLowerCase().includes(wanted),
  );
};

/** What needs action first, then by end, then by name. */
export const byUrgency =
  (nowMs: number) =>
  (a: CertificateView, b: CertificateView): number =>
    STATE_ORDER.indexOf(certificateState(a, nowMs)) - STATE_ORDER.indexOf(certificateState(b, nowMs)) ||
    leftDays(endsAtMs(a), nowMs) - leftDays(endsAtMs(b), nowMs) ||
    a.name.localeCompare(b.name, 'en', { numeric: true });
