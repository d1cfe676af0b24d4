import { join } from 'node:path';
import { messageOf } from '../../base/errors.ts';
import { weakSuitesIn } from '../../base/node/tls-settings.ts';
import {
  parseAuthenticationConfiguration,
  type AuthenticationConfiguration,
} from '../../apiserver/config/files/authentication-configuration.ts';
import {
  say,
  SaidError,
  type HardeningMeasure,
  type HardeningWishes,
  type Said,
} from '../../contract/index.ts';
import { ENCRYPTION_FLAGS } from '../encryption/enable.ts';
import { fileFlagOf } from '../data-folder/configured-file.ts';
import type { FlagChange } from '../flags/with-flags.ts';
import { auditPolicyYaml } from '../manifests/audit-policy.ts';
import { ANONYMOUS_PATHS, AUTHENTICATION_CONFIG_FILE } from '../manifests/authentication-config.ts';
import { AUDIT_LIMITS, auditFlags } from '../manifests/control-plane.ts';
import { AUDIT_POLICY_FILE } from '../manifests/guard-files.ts';
import { inData } from '../manifests/static-pod.ts';
import {
  ADMISSION_CONFIG_FILE,
  withAnonymousLimited,
  withEventRateLimit,
  withIssuer,
} from './configuration-files.ts';
import { givenValue, listValue, type HardeningDraft } from './draft.ts';

const API_SERVER = 'kube-apiserver';
const PROFILED = [API_SERVER, 'kube-controller-manager', 'kube-scheduler', 'cloud-controller-manager'];

/** What a measure cannot decide: undefined where it could. */
type Outcome = Said | undefined;
type Measure = (draft: HardeningDraft, wishes: HardeningWishes) => Outcome | void;

const remove = (name: string): FlagChange => ({ name, value: null });

/** The file that the API servers are told, or the one that they will be told. */
const configuredFile = (draft: HardeningDraft, flag: string, otherwise: string): string => {
  const data = draft.facts.dataDirectory;
  const [first = []] = draft.commands(API_SERVER);
  return fileFlagOf(data, first, flag) ?? join(data, otherwise);
};

const authenticationFile = (draft: HardeningDraft): string =>
  configuredFile(draft, 'authentication-config', AUTHENTICATION_CONFIG_FILE);

const tellAuthenticationConfig = (draft: HardeningDraft): void =>
  draft.setFlags(API_SERVER, (command) => [
    {
      name: 'authentication-config',
      value: givenValue(command, 'authentication-config') ?? inData(AUTHENTICATION_CONFIG_FILE),
    },
    remove('anonymous-auth'),
  ]);

/** A broken file is named, with what is wrong in it. */
const authenticationIn = (draft: HardeningDraft, file: string): AuthenticationConfiguration | undefined => {
  const text = draft.text(file);
  if (text === undefined) return undefined;
  try {
    return parseAuthenticationConfiguration(text);
  } catch (cause) {
    const what = say('configuration.fixFirst', { path: file, why: messageOf(cause) });
    throw new SaidError('BadConfiguration', what, { cause });
  }
};

const isHealthPath = (path: string): boolean =>
  ANONYMOUS_PATHS.some((known) => path === known || path.startsWith(`${known}/`));

const anonymous: Measure = (draft) => {
  const isOn = draft.commands(API_SERVER).some((command) => {
    if (givenValue(command, 'anonymous-auth') === 'true') return true;
    const file = fileFlagOf(draft.facts.dataDirectory, command, 'authentication-config');
    const found = file === undefined ? undefined : authenticationIn(draft, file)?.anonymous;
    return found?.enabled === true && !(found.paths ?? ['/']).every(isHealthPath);
  });
  if (!isOn) return;
  const file = authenticationFile(draft);
  draft.write(file, withAnonymousLimited(draft.text(file)));
  tellAuthenticationConfig(draft);
};

const issuersOf = (draft: HardeningDraft): readonly string[] => [
  ...draft.commands(API_SERVER).flatMap((command) => givenValue(command, 'oidc-issuer-url') ?? []),
  ...(authenticationIn(draft, authenticationFile(draft))?.jwt.map(({ issuer }) => issuer.url) ?? []),
];

const oidc: Measure = (draft, wishes) => {
  const issuers = issuersOf(draft);
  if (wishes.oidc === null) return issuers.length > 0 ? undefined : say('harden.choice.oidc');
  if (issuers.includes(wishes.oidc.issuerUrl)) return;
  if (draft.commands(API_SERVER).some((command) => givenValue(command, 'oidc-issuer-url') !== undefined))
    throw new SaidError('Contradiction', say('harden.issuerInFlag'));
  const file = authenticationFile(draft);
  draft.write(file, withIssuer(draft.text(file) ?? withAnonymousLimited(undefined), wishes.oidc));
  tellAuthenticationConfig(draft);
};

const authorization: Measure = (draft) =>
  draft.setFlags(API_SERVER, (command) => {
    if (givenValue(command, 'authorization-config') !== undefined) return [];
    const modes = listValue(command, 'authorization-mode');
    const others = modes.filter((mode) => !['AlwaysAllow', 'Node', 'RBAC'].includes(mode));
    const isFine = !modes.includes('AlwaysAllow') && modes.includes('Node') && modes.includes('RBAC');
    return isFine ? [] : [{ name: 'authorization-mode', value: ['Node', 'RBAC', ...others].join(',') }];
  });

const staticTokens: Measure = (draft) => draft.setFlags(API_SERVER, () => [remove('token-auth-file')]);

const tokenExpiration: Measure = (draft) =>
  draft.setFlags(API_SERVER, () => [{ name: 'service-account-extend-token-expiration', value: 'false' }]);

/** Plugins that upstream enables and that others rely on. */
const ESSENTIAL_PLUGINS = [
  'NamespaceLifecycle',
  'ServiceAccount',
  'LimitRanger',
  'ResourceQuota',
  'PodSecurity',
  'NodeRestriction',
];

const enablePlugin = (draft: HardeningDraft, plugin: string): void =>
  draft.setFlags(API_SERVER, (command) => {
    const name = 'enable-admission-plugins';
    const disabled = listValue(command, 'disable-admission-plugins').filter((one) => one !== plugin);
    return [
      { name, value: [...new Set([...listValue(command, name), plugin])].join(',') },
      { name: 'disable-admission-plugins', value: disabled.length > 0 ? disabled.join(',') : null },
    ];
  });

const admission: Measure = (draft) => {
  enablePlugin(draft, 'NodeRestriction');
  draft.setFlags(API_SERVER, (command) => {
    const enabled = listValue(command, 'enable-admission-plugins').filter((one) => one !== 'AlwaysAdmit');
    const disabled = listValue(command, 'disable-admission-plugins').filter(
      (one) => !ESSENTIAL_PLUGINS.includes(one),
    );
    return [
      { name: 'enable-admission-plugins', value: enabled.join(',') },
      { name: 'disable-admission-plugins', value: disabled.length > 0 ? disabled.join(',') : null },
    ];
  });
};

const eventRateLimit: Measure = (draft) => {
  const file = configuredFile(draft, 'admission-control-config-file', ADMISSION_CONFIG_FILE);
  draft.write(file, withEventRateLimit(draft.text(file)));
  draft.setFlags(API_SERVER, (command) => [
    {
      name: 'admission-control-config-file',
      value: givenValue(command, 'admission-control-config-file') ?? inData(ADMISSION_CONFIG_FILE),
    },
  ]);
  enablePlugin(draft, 'EventRateLimit');
};

const audit: Measure = (draft) => {
  draft.setFlags(API_SERVER, (command, host) => {
    const isRecorded = givenValue(command, 'audit-log-path') !== undefined;
    const missing = Object.entries(auditFlags(host)).filter(
      ([name]) => !isRecorded && givenValue(command, name) === undefined,
    );
    // Zero keeps everything.
    const low = Object.entries(AUDIT_LIMITS).filter(([name, least]) => {
      const given = givenValue(command, name);
      return given !== undefined && Number(given) !== 0 && Number(given) < least;
    });
    return [...missing, ...low].map(([name, value]) => ({ name, value: String(value) }));
  });
  const file = configuredFile(draft, 'audit-policy-file', AUDIT_POLICY_FILE);
  if (draft.text(file) === undefined) draft.write(file, auditPolicyYaml(draft.facts.nodes));
};

const encryption: Measure = (draft) => {
  const isPlain = (command: readonly string[]): boolean =>
    givenValue(command, 'encryption-provider-config') === undefined;
  if (!draft.commands(API_SERVER).some(isPlain)) return;
  draft.isEncrypting = true;
  draft.setFlags(API_SERVER, (command) => (isPlain(command) ? ENCRYPTION_FLAGS : []));
};

const profiling: Measure = (draft) => {
  for (const component of PROFILED) draft.setFlags(component, () => [{ name: 'profiling', value: 'false' }]);
};

const cipherSuites: Measure = (draft) => {
  for (const component of [...PROFILED, 'etcd'])
    draft.setFlags(component, (command) => {
      const flag = component === 'etcd' ? 'cipher-suites' : 'tls-cipher-suites';
      const isWeak = weakSuitesIn(listValue(command, flag)).length > 0;
      const oldest = givenValue(command, 'tls-min-version') ?? '';
      return [
        ...(isWeak ? [remove(flag)] : []),
        ...(['VersionTLS10', 'VersionTLS11', 'TLS1.0', 'TLS1.1'].includes(oldest)
          ? [remove('tls-min-version')]
          : []),
      ];
    });
};

const requestLimits: Measure = (draft) =>
  draft.setFlags(API_SERVER, (command) =>
    ['max-requests-inflight', 'max-mutating-requests-inflight']
      .filter((name) => givenValue(command, name) === '0')
      .map(remove),
  );

const fileModes: Measure = (draft) => {
  draft.closesFiles = draft.facts.exposed.length > 0;
};

const backups: Measure = (draft, { backupDirectory }) => {
  const { schedule } = draft;
  if (backupDirectory === null)
    return schedule.enabled && schedule.directory !== undefined ? undefined : say('harden.choice.backups');
  draft.schedule = { ...schedule, enabled: true, directory: backupDirectory };
};

export const MEASURES: Readonly<Record<HardeningMeasure, Measure>> = {
  anonymous,
  oidc,
  authorization,
  staticTokens,
  tokenExpiration,
  admission,
  externalIPs: (draft) => enablePlugin(draft, 'DenyServiceExternalIPs'),
  alwaysPullImages: (draft) => enablePlugin(draft, 'AlwaysPullImages'),
  eventRateLimit,
  audit,
  encryption,
  profiling,
  cipherSuites,
  requestLimits,
  fileModes,
  backups,
};
