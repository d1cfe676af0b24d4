import type { CertificateView } from '../../../core/contract/index.ts';

export const FIXTURE_NOW_MS = Date.UTC(2026, 10, 16, 14, 32, 7);
const DAY_MS = 86_400_000;

/** A certificate good for 217 more days, for tests. */
export const certificateFixture = (name: string, more: Partial<CertificateView> = {}): CertificateView => ({
  name,
  path: `/data/pki/${name}.crt`,
  kind: 'files',
  authority: 'kubernetes',
  subject: 'kube-apiserver',
  organizations: [],
  alternativeNames: ['kubernetes', '10.96.0.1'],
  usages: ['server'],
  serial: '5c1e90a7',
  algorithm: 'ECDSA P-256',
  fingerprint: '8F:22:1C:5A',
  notBeforeMs: FIXTURE_NOW_MS - 148 * DAY_MS,
  notAfterMs: FIXTURE_NOW_MS + 217 * DAY_MS,
  served: null,
  ...more,
});

export const daysFromNow = (days: number): number => FIXTURE_NOW_MS + days * DAY_MS;
