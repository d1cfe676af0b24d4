import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readApiServerConfig } from './config.ts';
import { APISERVER_FLAGS } from './flags.ts';
import { UNSUPPORTED_FLAGS } from './unsupported-flags.ts';

const ROOT = join(import.meta.dirname, '..');
const NEEDED: Readonly<Record<string, string>> = {
  'etcd-servers': 'https://127.0.0.1:2379',
  'tls-cert-file': 'a.crt',
  'tls-private-key-file': 'a.key',
  'client-ca-file': 'ca.crt',
  'service-account-issuer': 'https://issuer',
  'service-account-key-file': 'sa.pub',
  'service-account-signing-key-file': 'sa.key',
};
/** Given alone they are a part of something. */
const COMPANIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'etcd-certfile': { 'etcd-keyfile': 'half' },
  'etcd-keyfile': { 'etcd-certfile': 'half' },
  'kubelet-client-certificate': { 'kubelet-client-key': 'half' },
  'kubelet-client-key': { 'kubelet-client-certificate': 'half' },
  'proxy-client-cert-file': { 'proxy-client-key-file': 'half' },
  'proxy-client-key-file': { 'proxy-client-cert-file': 'half' },
  'authorization-policy-file': { 'authorization-mode': 'RBAC,ABAC' },
  'authorization-webhook-config-file': { 'authorization-mode': 'RBAC,Webhook' },
};
/** Given alone they mean nothing. */
const NEEDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'encryption-provider-config-automatic-reload': { 'encryption-provider-config': 'a.yaml' },
};
const OIDC = { 'oidc-issuer-url': 'https://usual', 'oidc-client-id': 'usual' };
const companionsOf = (name: string): Readonly<Record<string, string>> =>
  name.startsWith('oidc-') ? OIDC : (COMPANIONS[name] ?? NEEDS[name] ?? {});
const OTHER_VALUES: Readonly<Record<string, string>> = {
  'authorization-webhook-version': 'v1',
  'authentication-token-webhook-version': 'v1',
  'audit-log-mode': 'batch',
  'audit-webhook-mode': 'blocking',
  'audit-log-truncate-max-batch-size': '99999999',
  'audit-webhook-truncate-max-batch-size': '99999999',
  'emulated-version': '1.35',
  'feature-gates': 'WatchList=false',
  'goaway-chance': '0.01',
  'strict-transport-security-directives': 'max-age=60',
  'oidc-signing-algs': 'ES256',
  'oidc-required-claim': 'a=b',
  'service-account-jwks-uri': 'https://keys',
  'etcd-servers': 'https://127.0.0.2:2379',
  'authorization-mode': 'RBAC',
  'service-node-port-range': '1000-2000',
  'tls-cipher-suites': 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'tls-min-version': 'VersionTLS13',
  v: '9',
};

const read = (values: Readonly<Record<string, string>>): string =>
  JSON.stringify(
    readApiServerConfig(
      Object.entries({ ...NEEDED, ...values }).map(([name, value]) => `--${name}=${value}`),
    ),
  );

/** Values of the kind's own that are tried until one differs from the default. */
const CANDIDATES = ['other', '7', '7s', 'true', 'false', 'none'];

const differs = (name: string): boolean => {
  const more = companionsOf(name);
  const isPaired = Object.hasOwn(COMPANIONS, name);
  const usual = read(isPaired ? { ...more, [name]: 'usual' } : more);
  const tried = OTHER_VALUES[name] === undefined ? CANDIDATES : [OTHER_VALUES[name]];
  return tried.some((value) => {
    try {
      return read({ ...more, [name]: value }) !== usual;
    } catch {
      return false;
    }
  });
};

const flags: Readonly<Record<string, { readonly kind: { readonly type: string } }>> = APISERVER_FLAGS;
/** Flags with one value say what this server does not do otherwise: any other value is rejected. */
const isFixed = (name: string): boolean =>
  ['/registry', 'application/json', 'json', 'audit.k8s.io/v1'].includes(flags[name]!.kind.type) ||
  [
    'storage-backend',
    'watch-cache',
    'service-account-lookup',
    'kubernetes-service-node-port',
    'profiling',
  ].includes(name);

test.each(Object.keys(flags).filter((name) => !isFixed(name)))('--%s changes the configuration', (name) => {
  expect(differs(name)).toBe(true);
});

test.each(Object.keys(flags).filter(isFixed))('--%s has one value, and any other is rejected', (name) => {
  expect(() => read({ [name]: 'another' })).toThrow(`--${name}`);
});

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('config'))
  .map((file) => readFileSync(join(ROOT, file), 'utf8'))
  .concat(readFileSync(join(ROOT, '../cluster/components/kube-apiserver.ts'), 'utf8'))
  .join('\n');

test('every part of the configuration is read by the server', () => {
  const config = readApiServerConfig(Object.entries(NEEDED).map(([name, value]) => `--${name}=${value}`));
  const unread = Object.keys(config).filter((name) => !new RegExp(`\\b${name}\\b`).test(sources));
  const nested = Object.entries(config).flatMap(([name, value]: [string, unknown]) =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && name !== 'tls'
      ? Object.keys(value).filter((key) => !new RegExp(`\\b${key}\\b`).test(sources))
      : [],
  );
  expect([...unread, ...nested]).toEqual([]);
});

test.each(Object.keys(UNSUPPORTED_FLAGS))(
  '--%s is rejected with the reason, and not also implemented',
  (name) => {
    expect(() => read({ [name]: 'x' })).toThrow(`--${name} is not supported: ${UNSUPPORTED_FLAGS[name]}`);
    expect(Object.hasOwn(flags, name)).toBe(false);
  },
);
