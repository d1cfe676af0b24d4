import { readFile } from 'node:fs/promises';
import { parseEncryptionConfiguration } from '../../../apiserver/encryption/index.ts';
import { parseAuthenticationConfiguration } from '../../../apiserver/config/files/authentication-configuration.ts';
import { writtenPrefixes } from '../../data-folder/encryption-configuration.ts';
import { fileFlagOf } from '../../data-folder/configured-file.ts';
import { anonymousPaths } from '../items/anonymous-paths.ts';
import { API_ITEMS } from '../items/api-server.ts';
import { nodeIdentity } from '../items/node-identity.ts';
import { SECURITY_ITEMS } from '../items/security.ts';
import { tlsSuites } from '../items/tls-suites.ts';
import type { Look } from '../look.ts';
import {
  bad,
  type BenchmarkCheck,
  commandsOf,
  equals,
  flagCheck,
  type FlagRule,
  given,
  listOf,
  measuredBy,
  type Result,
  shownFlags,
  valueOf,
  inWords,
} from './check.ts';

const API = 'kube-apiserver';
const HARDEN = 'pilothouse harden apply';

/** 1.2.1: off, or for health checks alone. Kubelets and load balancers probe without credentials. */
const anonymous: BenchmarkCheck = {
  id: '1.2.1',
  title: 'API server: anonymous requests reach health checks at most',
  async measure(look) {
    for (const { host, command } of await commandsOf(look, API)) {
      const file = fileFlagOf(look.dataDirectory, command, 'authentication-config');
      const found =
        file === undefined
          ? undefined
          : parseAuthenticationConfiguration(await readFile(file, 'utf8')).anonymous;
      const isOpen =
        valueOf(command, 'anonymous-auth') === 'true' ||
        (found?.enabled === true && found.paths === undefined);
      if (isOpen) return bad(`${API} on ${host} serves anonymous requests of any path`, HARDEN);
    }
    const probed = inWords(await look.once(anonymousPaths));
    return { ...probed, advice: probed.verdict === 'ok' ? '' : HARDEN };
  },
};

const isAuthorizedBy = (mode: string): FlagRule => ({
  component: API,
  remedy: HARDEN,
  fault: (command) =>
    valueOf(command, 'authorization-config') !== undefined ||
    listOf(command, 'authorization-mode').includes(mode)
      ? undefined
      : shownFlags(command, 'authorization-mode'),
  evidence: (command) =>
    shownFlags(
      command,
      valueOf(command, 'authorization-config') ? 'authorization-config' : 'authorization-mode',
    ),
});

const plugin = (name: string, isDecision = false): FlagRule => ({
  component: API,
  remedy: HARDEN,
  isDecision,
  fault: (command) =>
    listOf(command, 'enable-admission-plugins').includes(name)
      ? undefined
      : `${name} is not in --enable-admission-plugins`,
  evidence: (command) => shownFlags(command, 'enable-admission-plugins'),
});

/** Upstream enables these, so only disabling them is wrong. */
const notDisabled = (name: string, probe?: (look: Look) => Promise<Result>): FlagRule => ({
  component: API,
  remedy: HARDEN,
  fault: (command) =>
    listOf(command, 'disable-admission-plugins').includes(name)
      ? shownFlags(command, 'disable-admission-plugins')
      : undefined,
  evidence: () => `${name} is on by default`,
  ...(probe && { probe }),
});

const atLeast = (name: string, least: number): FlagRule => ({
  component: API,
  remedy: HARDEN,
  fault: (command) => {
    const value = valueOf(command, name);
    // Zero keeps everything.
    const isEnough = value !== undefined && (Number(value) === 0 || Number(value) >= least);
    return isEnough ? undefined : shownFlags(command, name);
  },
  evidence: (command) => shownFlags(command, name),
});

/** 1.2.28: what Secrets are written with now. */
const providers: BenchmarkCheck = {
  id: '1.2.28',
  title: 'Secrets are written with an authenticated or KMS provider',
  async measure(look) {
    const [first] = await commandsOf(look, API);
    const file = first && fileFlagOf(look.dataDirectory, first.command, 'encryption-provider-config');
    if (file === undefined) return bad('--encryption-provider-config is not set', HARDEN);
    const text = await readFile(file, 'utf8');
    parseEncryptionConfiguration(text);
    const written = writtenPrefixes(text).find(({ resource }) => ['secrets', '*.', '*.*'].includes(resource));
    if (!written || written.prefix === '')
      return bad(`${file} writes Secrets without encryption`, 'pilothouse encryption rotate');
    const probed = inWords(await look.once(API_ITEMS.encryption));
    return { ...probed, message: `Secrets are written as ${written.prefix}; ${probed.message}` };
  },
};

const seconds = (text: string): number => {
  const [, amount = '0', unit = 's'] = /^(\d+)(ms|s|m|h)/.exec(text) ?? [];
  return Number(amount) * { ms: 0.001, s: 1, m: 60, h: 3600 }[unit as 'ms' | 's' | 'm' | 'h'];
};
const REQUEST_SECONDS_MAX = 300;

/** Section 1.2. */
export const API_SERVER_CHECKS: readonly BenchmarkCheck[] = [
  anonymous,
  flagCheck('1.2.2', 'API server: no static token file', {
    component: API,
    remedy: HARDEN,
    fault: (command) =>
      valueOf(command, 'token-auth-file') === undefined ? undefined : shownFlags(command, 'token-auth-file'),
    evidence: (command) => shownFlags(command, 'token-auth-file'),
  }),
  flagCheck('1.2.3', 'Services cannot claim external IPs', plugin('DenyServiceExternalIPs', true)),
  flagCheck(
    '1.2.4',
    'API server authenticates to kubelets with a certificate',
    given(API, ['kubelet-client-certificate', 'kubelet-client-key']),
  ),
  flagCheck('1.2.5', 'API server verifies kubelets', given(API, ['kubelet-certificate-authority'])),
  flagCheck('1.2.6', 'API server does not allow all requests', {
    component: API,
    remedy: HARDEN,
    fault: (command) =>
      listOf(command, 'authorization-mode').includes('AlwaysAllow')
        ? shownFlags(command, 'authorization-mode')
        : undefined,
    evidence: (command) => shownFlags(command, 'authorization-mode'),
    probe: measuredBy(SECURITY_ITEMS.authorization),
  }),
  flagCheck('1.2.7', 'API server authorizes nodes with Node', {
    ...isAuthorizedBy('Node'),
    probe: measuredBy(nodeIdentity),
  }),
  flagCheck('1.2.8', 'API server authorizes with RBAC', isAuthorizedBy('RBAC')),
  flagCheck('1.2.9', 'The rate of events is limited', plugin('EventRateLimit', true)),
  flagCheck('1.2.10', 'API server does not admit all requests', {
    component: API,
    remedy: HARDEN,
    fault: (command) =>
      listOf(command, 'enable-admission-plugins').includes('AlwaysAdmit')
        ? shownFlags(command, 'enable-admission-plugins')
        : undefined,
    evidence: () => 'AlwaysAdmit is off',
  }),
  flagCheck('1.2.11', 'Registry credentials are checked for every pod', plugin('AlwaysPullImages', true)),
  flagCheck(
    '1.2.12',
    'Pods run with service accounts',
    notDisabled('ServiceAccount', measuredBy(API_ITEMS.admission)),
  ),
  flagCheck('1.2.13', 'No objects in namespaces that end', notDisabled('NamespaceLifecycle')),
  flagCheck('1.2.14', 'Kubelets can change only their own objects', plugin('NodeRestriction')),
  flagCheck(
    '1.2.15',
    'API server: profiling is off',
    equals(API, ['profiling', 'false'], { probe: measuredBy(SECURITY_ITEMS.profiling), remedy: HARDEN }),
  ),
  flagCheck('1.2.16', 'Requests are recorded in an audit log', {
    ...given(API, ['audit-log-path'], measuredBy(API_ITEMS.audit)),
    remedy: HARDEN,
  }),
  flagCheck('1.2.17', 'Audit logs are kept for 30 days', atLeast('audit-log-maxage', 30)),
  flagCheck('1.2.18', '10 rotated audit logs are kept', atLeast('audit-log-maxbackup', 10)),
  flagCheck('1.2.19', 'Audit logs are rotated at 100 MB', atLeast('audit-log-maxsize', 100)),
  flagCheck('1.2.20', 'Requests time out', {
    component: API,
    remedy: `set --request-timeout to at most ${REQUEST_SECONDS_MAX}s`,
    fault: (command) => {
      const value = valueOf(command, 'request-timeout');
      const isFine = value === undefined || (seconds(value) > 0 && seconds(value) <= REQUEST_SECONDS_MAX);
      return isFine ? undefined : shownFlags(command, 'request-timeout');
    },
    evidence: (command) =>
      valueOf(command, 'request-timeout') === undefined
        ? '--request-timeout is 1m0s by default'
        : shownFlags(command, 'request-timeout'),
  }),
  flagCheck(
    '1.2.21',
    'Tokens of deleted service accounts are rejected',
    equals(API, ['service-account-lookup', 'true'], { otherwise: 'true' }),
  ),
  flagCheck('1.2.22', 'API server: key of service accounts is set', given(API, ['service-account-key-file'])),
  flagCheck(
    '1.2.23',
    'API server authenticates to etcd with a certificate',
    given(API, ['etcd-certfile', 'etcd-keyfile'], measuredBy(SECURITY_ITEMS.insecurePorts)),
  ),
  flagCheck(
    '1.2.24',
    'API server serves TLS with its certificate',
    given(API, ['tls-cert-file', 'tls-private-key-file'], measuredBy(SECURITY_ITEMS.insecurePorts)),
  ),
  flagCheck('1.2.25', 'API server: authority of clients is set', given(API, ['client-ca-file'])),
  flagCheck('1.2.26', 'API server verifies etcd', given(API, ['etcd-cafile'])),
  flagCheck('1.2.27', 'Encryption at rest is configured', {
    ...given(API, ['encryption-provider-config'], measuredBy(API_ITEMS.encryption)),
    remedy: HARDEN,
  }),
  providers,
  flagCheck('1.2.29', 'API server uses strong cipher suites only', {
    component: API,
    remedy: HARDEN,
    fault: () => undefined,
    evidence: (command) =>
      valueOf(command, 'tls-cipher-suites') === undefined
        ? 'the default suites have forward secrecy and authenticated encryption'
        : shownFlags(command, 'tls-cipher-suites'),
    probe: measuredBy(tlsSuites),
  }),
  flagCheck(
    '1.2.30',
    'Service account tokens expire after an hour',
    equals(API, ['service-account-extend-token-expiration', 'false'], { remedy: HARDEN }),
  ),
];
