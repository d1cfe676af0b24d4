import { computed } from 'vue';
import type { CertificateView } from '../../../core/contract/index.ts';
import type { IconName } from '../../components/icon-names.ts';
import { dateLocale, formatCount, threeLetters } from '../../locales/format.ts';
import { t } from '../../locales/i18n.ts';
import { branchOf, isStale, leftDays, placeOf, type CertificateState } from './certificate-state.ts';

const day = computed(() => new Intl.DateTimeFormat(dateLocale.value, { dateStyle: 'medium' }));
const month = computed(() => new Intl.DateTimeFormat(dateLocale.value, { month: 'short' }));

/** 21 Jun 2027: certificates are measured in days. */
export const formatDay = (atMs: number): string => threeLetters(day.value.format(atMs));
export const formatMonth = (atMs: number): string => threeLetters(month.value.format(atMs));

/** kubernetes-ca, as its certificate calls itself; another name as it is. */
export const authorityName = (id: string): string => {
  if (id === 'kubernetes' || id === 'etcd' || id === 'front-proxy') return t(`certs.authority.${id}`);
  return id === '' ? t('certs.authority.none') : id;
};

export const displayName = (certificate: Pick<CertificateView, 'name'>): string => {
  const { host, short } = placeOf(certificate.name);
  return host === '' ? short : t('certs.detail.on', { name: short, host });
};

export const leftText = (endMs: number, nowMs: number): string =>
  endMs <= nowMs ? t('certs.left.expired') : t('certs.left', { days: formatCount(leftDays(endMs, nowMs)) });

/** What is known about who presents it. */
export const servedText = (certificate: CertificateView): string => {
  if (certificate.served)
    return isStale(certificate)
      ? t('certs.served.stale', { date: formatDay(certificate.served.notAfterMs) })
      : t('certs.served.same');
  if (certificate.kind === 'authority') return t('certs.served.authority');
  if (certificate.kind === 'kubeconfig') return t('certs.served.kubeconfig');
  return branchOf(certificate) === 'clients' ? t('certs.served.client') : t('certs.served.down');
};

export const stateIcon: Readonly<Record<CertificateState, IconName>> = {
  expired: 'error',
  stale: 'warn',
  due: 'warn',
  ok: 'ok',
};
