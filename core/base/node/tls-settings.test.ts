import { createSecureContext } from 'node:tls';
import { expect, test } from 'vitest';
import { parseFlags } from '../flags.ts';
import { TLS_FLAGS, tlsSettings, tlsSettingsOf, weakSuitesIn } from './tls-settings.ts';

const TLS13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';
const parse = (...args: string[]) => tlsSettingsOf(parseFlags(TLS_FLAGS, args).values);

test('without flags a server offers forward secrecy with authenticated encryption, and nothing older than TLS 1.2', () => {
  expect(parse()).toEqual({
    minVersion: 'TLSv1.2',
    ciphers:
      `${TLS13}:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:` +
      'ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305',
    honorCipherOrder: true,
  });
});

test("suites are given by Go's names, those of TLS 1.3 are always offered, old names are known", () => {
  const { ciphers } = parse(
    '--tls-cipher-suites=TLS_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
    '--tls-cipher-suites',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256, TLS_RSA_WITH_AES_128_CBC_SHA',
  );
  expect(ciphers).toBe(`${TLS13}:ECDHE-RSA-CHACHA20-POLY1305:AES128-SHA`);
  expect(createSecureContext({ ciphers })).toBeDefined();
});

test('the oldest version is configurable, and so is the newest where a server has a flag for it', () => {
  expect([
    parse('--tls-min-version=VersionTLS13').minVersion,
    parse('--tls-min-version=').minVersion,
    tlsSettings({ maxVersion: 'TLSv1.2' }).maxVersion,
  ]).toEqual(['TLSv1.3', 'TLSv1.2', 'TLSv1.2']);
});

test.each([
  [
    '--tls-cipher-suites=TLS_NOPE',
    'invalid value "TLS_NOPE" for --tls-cipher-suites: Cipher suite TLS_NOPE not supported or doesn\'t exist',
  ],
  ['--tls-cipher-suites=constructor', "Cipher suite constructor not supported or doesn't exist"],
  // OpenSSL 3 has no RC4 any more.
  ['--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA', "TLS_RSA_WITH_RC4_128_SHA not supported or doesn't exist"],
  ['--tls-min-version=TLS1.2', 'invalid value "TLS1.2" for --tls-min-version: unknown tls version "TLS1.2"'],
  ['--tls-min-version=VersionTLS11', 'VersionTLS11 is obsolete (RFC 8996); use VersionTLS12 or VersionTLS13'],
])('%s is rejected in one line', (arg, message) => {
  expect(() => parse(arg)).toThrow(message);
});

test('suites without forward secrecy and CBC suites are named as weak', () => {
  expect(
    weakSuitesIn([
      'TLS_AES_128_GCM_SHA256',
      'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
      'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
      'TLS_RSA_WITH_AES_128_GCM_SHA256',
    ]),
  ).toEqual(['TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_AES_128_GCM_SHA256']);
});
