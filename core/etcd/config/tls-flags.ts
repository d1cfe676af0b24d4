import type { FlagValues } from '../../base/flags.ts';
import type { AllowedNames } from '../../base/node/certificate-names.ts';
import { knownSuites, tlsSettings, unknownSuiteIn, type TlsVersion } from '../../base/node/tls-settings.ts';
import { bad } from './bad-configuration.ts';
import type { ETCD_FLAGS } from './flags.ts';
import type { ListenUrl } from './listen-url.ts';

type Values = FlagValues<typeof ETCD_FLAGS>;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  /** Shown when this member dials; empty: `certFile` and `keyFile`. */
  readonly dialCertFile: string;
  readonly dialKeyFile: string;
  readonly trustedCaFile: string;
  /** Empty: no certificate is looked up as revoked. */
  readonly crlFile: string;
  readonly requireClientCertificate: boolean;
  readonly allowed: AllowedNames;
  /** `--auto-tls`, `--peer-auto-tls`: a certificate is created where none is given; peers cannot verify it. */
  readonly isAutomatic: boolean;
}

/** What every TLS listener and dialer of the member agrees to. */
export interface TlsParameters {
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  readonly ciphers: string;
}

const checkFiles = (prefix: '' | 'peer-', urls: readonly ListenUrl[], files: TlsFiles): TlsFiles => {
  const secure = urls.some((url) => url.secure);
  const isGiven = files.certFile !== '' || files.keyFile !== '';
  if (secure && !isGiven && !files.isAutomatic)
    bad(`https:// listen URLs need --${prefix}cert-file and --${prefix}key-file, or --${prefix}auto-tls`);
  if ((files.certFile === '') !== (files.keyFile === ''))
    bad(`--${prefix}cert-file and --${prefix}key-file must be given together`);
  if ((files.dialCertFile === '') !== (files.dialKeyFile === ''))
    bad(`--${prefix}client-cert-file and --${prefix}client-key-file must be given together`);
  if (files.isAutomatic && files.trustedCaFile !== '')
    bad(
      `--${prefix}auto-tls and --${prefix}trusted-ca-file exclude each other: a generated certificate is of no CA`,
    );
  if (files.requireClientCertificate && files.trustedCaFile === '')
    bad(`--${prefix}client-cert-auth needs --${prefix}trusted-ca-file`);
  if (files.crlFile !== '' && files.trustedCaFile === '')
    bad(`--${prefix === '' ? 'client-' : prefix}crl-file needs --${prefix}trusted-ca-file`);
  const { commonNames = [], hostnames = [] } = files.allowed;
  if (commonNames.length > 0 && hostnames.length > 0)
    bad(
      `--${prefix}cert-allowed-cn and --${prefix}cert-allowed-hostname exclude each other; give one of them`,
    );
  if (commonNames.length + hostnames.length > 0 && files.trustedCaFile === '')
    bad(`allowed names of certificates need --${prefix}trusted-ca-file`);
  return files;
};

export const clientTlsFiles = (values: Values, urls: readonly ListenUrl[]): TlsFiles =>
  checkFiles('', urls, {
    certFile: values['cert-file'],
    keyFile: values['key-file'],
    dialCertFile: '',
    dialKeyFile: '',
    trustedCaFile: values['trusted-ca-file'],
    crlFile: values['client-crl-file'],
    // As with etcd, an authority alone already demands certificates of it.
    requireClientCertificate: values['client-cert-auth'] || values['trusted-ca-file'] !== '',
    allowed: { hostnames: values['client-cert-allowed-hostname'] },
    isAutomatic: values['auto-tls'] && values['cert-file'] === '',
  });

export const peerTlsFiles = (values: Values, urls: readonly ListenUrl[]): TlsFiles =>
  checkFiles('peer-', urls, {
    certFile: values['peer-cert-file'],
    keyFile: values['peer-key-file'],
    dialCertFile: values['peer-client-cert-file'],
    dialKeyFile: values['peer-client-key-file'],
    trustedCaFile: values['peer-trusted-ca-file'],
    crlFile: values['peer-crl-file'],
    requireClientCertificate: values['peer-client-cert-auth'] || values['peer-trusted-ca-file'] !== '',
    allowed: {
      commonNames: values['peer-cert-allowed-cn'],
      hostnames: values['peer-cert-allowed-hostname'],
    },
    isAutomatic: values['peer-auto-tls'] && values['peer-cert-file'] === '',
  });

const TLS_VERSIONS = { '': 'TLSv1.3', 'TLS1.2': 'TLSv1.2', 'TLS1.3': 'TLSv1.3' } as const;

export const tlsParameters = (values: Values): TlsParameters => {
  const minVersion = TLS_VERSIONS[values['tls-min-version']];
  const maxVersion = TLS_VERSIONS[values['tls-max-version']];
  if (minVersion > maxVersion)
    bad(
      `--tls-min-version: min version (${values['tls-min-version']}) is greater than max version (${values['tls-max-version']})`,
    );
  const suites = values['cipher-suites'];
  if (minVersion === 'TLSv1.3' && suites.length > 0)
    bad('--cipher-suites: cipher suites cannot be configured when only TLS1.3 is enabled');
  const unknown = unknownSuiteIn(suites);
  if (unknown !== undefined)
    bad(
      `--cipher-suites: unexpected TLS cipher suite "${unknown}"; known suites: ${knownSuites().join(', ')}`,
    );
  return { minVersion, maxVersion, ciphers: tlsSettings({ cipherSuites: suites }).ciphers };
};
