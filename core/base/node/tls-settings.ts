import { getCiphers } from 'node:tls';
import { flag, type FlagKind, type FlagValues } from '../flags.ts';

export type TlsVersion = 'TLSv1.2' | 'TLSv1.3';

/** What every TLS server of this product is created with; spread it into the options of `tls`, `https` and `http2`. */
export interface TlsSettings {
  readonly minVersion: TlsVersion;
  readonly maxVersion?: TlsVersion;
  /** OpenSSL's notation. */
  readonly ciphers: string;
  readonly honorCipherOrder: true;
}

interface Suite {
  /** OpenSSL's name. */
  readonly openssl: string;
  /** Offered without `--tls-cipher-suites`: forward secrecy and authenticated encryption. */
  readonly isDefault?: true;
}

/** Of TLS 1.3. As with Go, they are not configurable: anyone who allows TLS 1.3 allows all of them. */
const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Go's names, in order of preference. What stands here without `isDefault` is used only where it is asked for. */
const SUITES: Readonly<Record<string, Suite>> = {
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: { openssl: 'ECDHE-ECDSA-AES128-GCM-SHA256', isDefault: true },
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: { openssl: 'ECDHE-RSA-AES128-GCM-SHA256', isDefault: true },
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: { openssl: 'ECDHE-ECDSA-AES256-GCM-SHA384', isDefault: true },
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: { openssl: 'ECDHE-RSA-AES256-GCM-SHA384', isDefault: true },
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: {
    openssl: 'ECDHE-ECDSA-CHACHA20-POLY1305',
    isDefault: true,
  },
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: { openssl: 'ECDHE-RSA-CHACHA20-POLY1305', isDefault: true },
  // Names that upstream keeps from before Go spelled out the hash.
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: { openssl: 'ECDHE-ECDSA-CHACHA20-POLY1305' },
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: { openssl: 'ECDHE-RSA-CHACHA20-POLY1305' },
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: { openssl: 'ECDHE-ECDSA-AES128-SHA256' },
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: { openssl: 'ECDHE-RSA-AES128-SHA256' },
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: { openssl: 'ECDHE-ECDSA-AES128-SHA' },
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: { openssl: 'ECDHE-RSA-AES128-SHA' },
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: { openssl: 'ECDHE-ECDSA-AES256-SHA' },
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: { openssl: 'ECDHE-RSA-AES256-SHA' },
  TLS_RSA_WITH_AES_128_GCM_SHA256: { openssl: 'AES128-GCM-SHA256' },
  TLS_RSA_WITH_AES_256_GCM_SHA384: { openssl: 'AES256-GCM-SHA384' },
  TLS_RSA_WITH_AES_128_CBC_SHA256: { openssl: 'AES128-SHA256' },
  TLS_RSA_WITH_AES_128_CBC_SHA: { openssl: 'AES128-SHA' },
  TLS_RSA_WITH_AES_256_CBC_SHA: { openssl: 'AES256-SHA' },
};

const DEFAULT_NAMES = Object.keys(SUITES).filter((name) => SUITES[name]!.isDefault);

/** Suites that a server must not offer: no forward secrecy, or CBC. By OpenSSL's names, as a handshake reports them. */
export const WEAK_SUITES: readonly string[] = Object.values(SUITES)
  .map(({ openssl }) => openssl)
  .filter((openssl) => !/^ECDHE-.*(GCM|CHACHA20)/.test(openssl));

/** BoringSSL implements fewer suites than OpenSSL. */
const isImplemented = (openssl: string): boolean => getCiphers().includes(openssl.toLowerCase());

/** Undefined where this program knows no such suite; else its name for OpenSSL. */
const opensslName = (name: string): string | undefined => {
  if (TLS13_SUITES.includes(name)) return name;
  const suite = Object.hasOwn(SUITES, name) ? SUITES[name] : undefined;
  return suite && isImplemented(suite.openssl) ? suite.openssl : undefined;
};

/** Every suite that can be named here. */
export const knownSuites = (): readonly string[] =>
  [...TLS13_SUITES, ...Object.keys(SUITES)].filter((name) => opensslName(name) !== undefined);

/** The first name that does not exist, for servers with their own sentence about it. */
export const unknownSuiteIn = (names: readonly string[]): string | undefined =>
  names.find((name) => opensslName(name) === undefined);

/** Throws upstream's sentence on a name that does not exist. */
export const assertCipherSuites = (names: readonly string[]): void => {
  const unknown = unknownSuiteIn(names);
  if (unknown !== undefined) throw new Error(`Cipher suite ${unknown} not supported or doesn't exist`);
};

/** Names of suites that are accepted but weak, for a warning in the log. */
export const weakSuitesIn = (names: readonly string[]): readonly string[] =>
  names.filter((name) => WEAK_SUITES.includes(SUITES[name]?.openssl ?? ''));

/** The settings of a server; without names the default suites. Throws on a name that does not exist. */
export const tlsSettings = (
  wanted: {
    readonly cipherSuites?: readonly string[];
    readonly minVersion?: TlsVersion;
    readonly maxVersion?: TlsVersion;
  } = {},
): TlsSettings => {
  const { cipherSuites = [], minVersion = 'TLSv1.2', maxVersion } = wanted;
  assertCipherSuites(cipherSuites);
  const names = cipherSuites.length === 0 ? DEFAULT_NAMES : cipherSuites;
  const older = names.filter((name) => !TLS13_SUITES.includes(name)).map((name) => opensslName(name)!);
  return {
    minVersion,
    ...(maxVersion && { maxVersion }),
    // Node turns TLS 1.3 off where the list names none of its suites.
    ciphers: [...new Set([...TLS13_SUITES, ...older])].join(':'),
    honorCipherOrder: true,
  };
};

const VERSIONS: Readonly<Record<string, TlsVersion>> = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' };
const OBSOLETE_VERSIONS = ['VersionTLS10', 'VersionTLS11'];

const versionKind: FlagKind<TlsVersion> = {
  type: 'string',
  parse(value) {
    if (value === '') return 'TLSv1.2';
    if (OBSOLETE_VERSIONS.includes(value))
      throw new Error(`${value} is obsolete (RFC 8996); use VersionTLS12 or VersionTLS13`);
    const version = Object.hasOwn(VERSIONS, value) ? VERSIONS[value] : undefined;
    if (version === undefined) throw new Error(`unknown tls version ${JSON.stringify(value)}`);
    return version;
  },
};

const suitesKind: FlagKind<readonly string[]> = {
  type: 'strings',
  parse(value) {
    const names = value === '' ? [] : value.split(',').map((name) => name.trim());
    assertCipherSuites(names);
    return names;
  },
};

/** The two flags of every upstream server; `tlsSettingsOf` reads them. */
export const TLS_FLAGS = {
  'tls-cipher-suites': flag(
    suitesKind,
    [],
    "cipher suites of TLS 1.2, by Go's names (default: ECDHE with AES-GCM or ChaCha20-Poly1305)",
    (before, next) => [...before, ...next],
  ),
  'tls-min-version': flag(versionKind, 'TLSv1.2', 'oldest TLS accepted: VersionTLS12 or VersionTLS13'),
} as const;

export const tlsSettingsOf = (values: FlagValues<typeof TLS_FLAGS>): TlsSettings =>
  tlsSettings({ cipherSuites: values['tls-cipher-suites'], minVersion: values['tls-min-version'] });
